import type { ToolDefinition } from "@cem/core";
import {
  ASKING_VERBS,
  CHANGING,
  isNamedAsChange,
  isStopWord,
  isVerb,
  splitWords,
  stem,
  TOOL_VERBS,
} from "@cem/core/text";
import type { ActionKind } from "@cem/core/text";
import { NOUN_GROUPS } from "../phrases.ts";
import { isSmall, type TokenKind } from "../language/lexer.ts";
import type { Phrase } from "../language/phrase.ts";

const ASKED = byVerb(ASKING_VERBS);
export const OWN_VERBS = byVerb(TOOL_VERBS);
/** Verbs without a specific action. */
export const LOOSE_VERBS = new Set("use call invoke apply do perform make take".split(" "));
const LOOKING = ["read", "list", "search"] as const;

function byVerb(table: Readonly<Record<ActionKind, string>>): ReadonlyMap<string, ReadonlySet<ActionKind>> {
  const kinds = new Map<string, Set<ActionKind>>();
  for (const [kind, verbs] of Object.entries(table) as [ActionKind, string][]) {
    for (const verb of verbs.split(" ")) kinds.set(verb, (kinds.get(verb) ?? new Set()).add(kind));
  }
  return kinds;
}

function isGeneric(verb: string): boolean {
  return LOOKING.some((kind) => ASKED.get(verb)?.has(kind));
}

function kindOfTool(nameWords: readonly string[]): ActionKind | undefined {
  for (const word of nameWords) {
    const [kind] = OWN_VERBS.get(word) ?? [];
    if (kind !== undefined) return kind;
  }
  return undefined;
}

/** Whether a tool changes something: by its annotation, else by the verb in its name. */
export function changes(tool: ToolDefinition): boolean {
  const { readOnlyHint, destructiveHint } = tool.annotations ?? {};
  if (readOnlyHint !== undefined) return !readOnlyHint;
  if (destructiveHint === true) return true;
  return isNamedAsChange(tool.name);
}

/** Whether a step's verb requests a change by a tool with such a name. */
function ordersChange(verb: string, nameWords: readonly string[]): boolean {
  if (nameWords.includes(verb)) return true;
  const kind = kindOfTool(nameWords);
  const asked = ASKED.get(verb);
  return (
    asked !== undefined &&
    [...asked].some((one) => CHANGING.has(one)) &&
    (kind === undefined || asked.has(kind))
  );
}

/** 1: the same verb, 0.6: the same kind of action, 0.4: reading, by a tool without a verb, 0: unknown, -1: another kind. */
export function verbFit(verb: string, nameWords: readonly string[], isReadOnly: boolean): number {
  if (nameWords.includes(verb)) return 1;
  const named = kindOfTool(nameWords);
  // A read-only tool counts as reading, whatever its name.
  const kind = isReadOnly && named !== undefined && CHANGING.has(named) ? undefined : named;
  const kinds = ASKED.get(verb);
  if (kinds === undefined) return isVerb(verb) && !LOOSE_VERBS.has(verb) ? -1 : 0;
  // `git_log`: a name without a verb is something to read.
  if (kind === undefined) return LOOKING.some((one) => kinds.has(one)) ? 0.4 : -1;
  return kinds.has(kind) ? 0.6 : -1;
}

/** The kind of argument that is recognizable by the value's form. */
const SHOWN: Partial<Record<TokenKind, string>> = {
  url: "url page",
  email: "email",
  path: "file folder path",
  tag: "channel",
};

/** A tool that a step names, or whose name is evident from its words. */
export type Candidate = ReturnType<typeof rate>[number];

const SAME = new Map<string, readonly string[]>();
for (const group of NOUN_GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const one of stems) SAME.set(one, stems);
}

export function meaningsOf(word: string): readonly string[] {
  return SAME.get(stem(word)) ?? [stem(word)];
}

/** The first word of a step, after polite phrases. */
export function verbOf(phrase: Phrase): string {
  const token = phrase.tokens.find((one) => !isSmall(one));
  return token?.kind === "word" ? token.lower : "";
}

function stemsOf(phrase: Phrase): ReadonlySet<string> {
  const words = phrase.tokens.filter(({ kind }) => kind === "word").flatMap(({ text }) => splitWords(text));
  const shown = phrase.tokens.flatMap(({ kind }) => SHOWN[kind]?.split(" ") ?? []);
  return new Set([...words, ...shown].flatMap((word) => meaningsOf(word)));
}

export function findCandidates(phrase: Phrase, tools: readonly ToolDefinition[], preferred?: ToolDefinition) {
  const stems = stemsOf(phrase);
  const verb = verbOf(phrase);
  const plain = ` ${phrase.tokens.flatMap(({ kind, text }) => (kind === "word" ? splitWords(text) : ["·"])).join(" ")} `;
  return tools
    .flatMap((tool) => rate(tool, { stems, verb, plain }, tool === preferred))
    .toSorted((a, b) => b.score - a.score);
}

function rate(
  tool: ToolDefinition,
  { stems, verb, plain }: { stems: ReadonlySet<string>; verb: string; plain: string },
  isPreferred: boolean,
) {
  const name = splitWords(tool.name);
  const server = splitWords(tool.server);
  const isNamed =
    isPreferred ||
    (plain.includes(` ${name.join(" ")} `) && (name.length > 1 || verb === name[0] || LOOSE_VERBS.has(verb)));
  const isReadOnly = tool.annotations?.readOnlyHint === true;
  const fit = verbFit(verb, name, isReadOnly);
  const isOrdered = changes(tool) ? ordersChange(verb, name) : fit >= 0 || isNamed;
  if (!isOrdered && !(isNamed && LOOSE_VERBS.has(verb))) return [];
  const nouns = nounsOf(name, server);
  const said = nouns.filter((word) => meaningsOf(word).some((one) => stems.has(one)));
  const isServerSaid = server.some((word) => stems.has(stem(word)));
  const isEvident =
    (nouns.length > 0 && said.length === nouns.length) ||
    (name.includes(verb) && !isGeneric(verb) && nouns.every((word) => server.includes(word))) ||
    (name.includes(verb) && isServerSaid && verb === "search");
  const isAsking = ASKED.has(verb) || /^(?:is|are|does|do|did|will|has|have)$/u.test(verb);
  const isKnownVerb = fit > 0 || isNamed || said.includes(verb) || !isAsking;
  if (!isNamed && !(isEvident && isKnownVerb)) return [];
  const score =
    (isNamed ? 10 : 0) + 2 * said.length + Math.max(fit, 0) + (isServerSaid ? 1 : 0) + (isPreferred ? 5 : 0);
  return [{ tool, score }];
}

/** The words of a tool's name without its verb and `current`, and without its server's name if other words are left. */
function nounsOf(name: readonly string[], server: readonly string[]): readonly string[] {
  const nouns = name.filter((word) => !OWN_VERBS.has(word) && !isStopWord(word) && word !== "current");
  const own = nouns.filter((word) => !server.includes(word));
  return own.length > 0 ? own : nouns;
}

/** The tool to show if none fits: the most similar by words, then by verb. For a change, only one that makes such a change. */
export function nearestTool(phrase: Phrase, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const stems = stemsOf(phrase);
  const verb = verbOf(phrase);
  const isShared = (word: string): boolean =>
    word !== verb && !isGeneric(word) && !isStopWord(word) && meaningsOf(word).some((one) => stems.has(one));
  const isChange = [...(ASKED.get(verb) ?? [])].some((kind) => CHANGING.has(kind));
  const rated = tools
    .map((tool) => ({ tool, words: splitWords(tool.name) }))
    .filter(({ words }) => !isChange || ordersChange(verb, words))
    .map(({ tool, words }) => {
      const shared = new Set([...words, ...splitWords(tool.server)].filter(isShared).map(stem)).size;
      const fit = verbFit(verb, words, tool.annotations?.readOnlyHint === true);
      return { tool, shared, score: shared + Math.max(fit, 0) };
    });
  return rated.filter(({ shared }) => shared > 0).toSorted((a, b) => b.score - a.score)[0]?.tool;
}
