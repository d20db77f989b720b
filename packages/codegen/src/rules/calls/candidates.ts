import type { ToolDefinition } from "@cem/core";
import { isStopWord, NOUN_GROUPS, splitWords, stem } from "@cem/core/text";
import type { Phrase } from "../language/phrase.ts";
import { isSmall, type TokenKind } from "../language/token.ts";
import { changes, isAsking, isGeneric, isLoose, isToolVerb, ordersChange, verbFit } from "./verbs.ts";

/** The kind of argument that a value shows by its form. */
const SHOWN: Partial<Record<TokenKind, string>> = {
  url: "url page",
  email: "email",
  path: "file folder path",
  tag: "channel",
};

/** A tool that a step names, or whose name is evident from its words. */
export interface Candidate {
  tool: ToolDefinition;
  score: number;
}

const SAME = new Map<string, readonly string[]>();
for (const group of NOUN_GROUPS) {
  const stems = group.split(" ").map(stem);
  for (const one of stems) SAME.set(one, stems);
}

/** The stems of a word and of those that mean the same. */
export function meaningsOf(word: string): readonly string[] {
  return SAME.get(stem(word)) ?? [stem(word)];
}

/** The word that a step begins with, without what is said out of politeness. */
export function verbOf(phrase: Phrase): string {
  const token = phrase.tokens.find((one) => !isSmall(one));
  return token?.kind === "word" ? token.lower : "";
}

/** The words of a step, in stems, with those that mean the same. */
function stemsOf(phrase: Phrase): ReadonlySet<string> {
  const words = phrase.tokens.filter(({ kind }) => kind === "word").flatMap(({ text }) => splitWords(text));
  const shown = phrase.tokens.flatMap(({ kind }) => SHOWN[kind]?.split(" ") ?? []);
  return new Set([...words, ...shown].flatMap((word) => meaningsOf(word)));
}

/** Finds the tools that a step may mean, best first. */
export function findCandidates(
  phrase: Phrase,
  tools: readonly ToolDefinition[],
  preferred?: ToolDefinition,
): Candidate[] {
  const stems = stemsOf(phrase);
  const verb = verbOf(phrase);
  const plain = ` ${phrase.tokens.flatMap(({ kind, text }) => (kind === "word" ? splitWords(text) : ["·"])).join(" ")} `;
  return tools
    .flatMap((tool) => rate(tool, { stems, verb, plain, isPreferred: tool === preferred }))
    .toSorted((a, b) => b.score - a.score);
}

interface StepWords {
  stems: ReadonlySet<string>;
  verb: string;
  plain: string;
  isPreferred: boolean;
}

function rate(tool: ToolDefinition, { stems, verb, plain, isPreferred }: StepWords): Candidate[] {
  const name = splitWords(tool.name);
  const server = splitWords(tool.server);
  const isNamed =
    isPreferred ||
    (plain.includes(` ${name.join(" ")} `) && (name.length > 1 || verb === name[0] || isLoose(verb)));
  const isReadOnly = tool.annotations?.readOnlyHint === true;
  const fit = verbFit(verb, name, isReadOnly);
  const isOrdered = changes(tool) ? ordersChange(verb, name) : fit >= 0 || isNamed;
  if (!isOrdered && !(isNamed && isLoose(verb))) return [];
  const nouns = nounsOf(name, server);
  const said = nouns.filter((word) => meaningsOf(word).some((one) => stems.has(one)));
  const isServerSaid = server.some((word) => stems.has(stem(word)));
  const isEvident =
    (nouns.length > 0 && said.length === nouns.length) ||
    (name.includes(verb) && !isGeneric(verb) && nouns.every((word) => server.includes(word))) ||
    (name.includes(verb) && isServerSaid && verb === "search");
  const isKnownVerb = fit > 0 || isNamed || said.includes(verb) || !isAsking(verb);
  if (!isNamed && !(isEvident && isKnownVerb)) return [];
  const score =
    (isNamed ? 10 : 0) + 2 * said.length + Math.max(fit, 0) + (isServerSaid ? 1 : 0) + (isPreferred ? 5 : 0);
  return [{ tool, score }];
}

/** The words of a tool's name beside its verb, and beside its server's name where something is left. */
function nounsOf(name: readonly string[], server: readonly string[]): readonly string[] {
  const nouns = name.filter((word) => !isToolVerb(word) && !isStopWord(word));
  const own = nouns.filter((word) => !server.includes(word));
  return own.length > 0 ? own : nouns;
}

/** The tool whose name shares most with a step beside its verb, to be shown where none fits. */
export function nearestTool(phrase: Phrase, tools: readonly ToolDefinition[]): ToolDefinition | undefined {
  const stems = stemsOf(phrase);
  const verb = verbOf(phrase);
  const isShared = (word: string): boolean =>
    word !== verb && !isGeneric(word) && !isStopWord(word) && meaningsOf(word).some((one) => stems.has(one));
  const rated = tools.map((tool) => ({ tool, shared: splitWords(tool.name).filter(isShared).length }));
  return rated.filter(({ shared }) => shared > 0).toSorted((a, b) => b.shared - a.shared)[0]?.tool;
}
