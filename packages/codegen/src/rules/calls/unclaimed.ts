import { isStopWord, SMALL_TALK, splitStems, splitWords, stem } from "@cem/core/text";
import { DEMANDING_WORDS } from "../phrases.ts";
import { isSmall } from "../language/lexer.ts";
import { LOOSE_VERBS, meaningsOf, verbFit, verbOf } from "./candidates.ts";
import { takesText } from "./fill-named.ts";
import type { Filling } from "./filling.ts";
import { mayBeOnePage, readParameters } from "./parameters.ts";

const TOOL_WORDS = new Set(
  "tool skill server function api mcp import run call invoke apply make perform".split(" "),
);

/** Words for something outside the step, which would be left out. */
const POINTING = new Set("following above below attached".split(" "));

const GREETING = /^(?:hi|hello|hey)$/u;
const POINTING_BACK = /^(?:it|them|this|that|these|those)$/u;

/** Whether a word that could be small talk is an argument, after the tool's name without a comma: `echo hello`. */
function isObject(at: number, { tool, tokens, open }: Filling, name: readonly string[]): boolean {
  const nameAt = tokens.findIndex(({ lower }) => name.includes(lower));
  if (nameAt < 0 || at <= nameAt || tokens[at - 1]?.kind === "mark") return false;
  const word = tokens[at]?.lower ?? "";
  if (GREETING.test(word)) return true;
  const takesWords = open.some(takesText) || tool.inputSchema.additionalProperties === true;
  // A longer name is self-explanatory: `get user data`.
  if (!takesWords || name.length > 1) return false;
  return (SMALL_TALK.has(word) && !TOOL_WORDS.has(word)) || POINTING_BACK.test(word);
}

/** The unclaimed words of a step: neither arguments, nor the tool's own words, nor small talk. */
export function unclaimed(filling: Filling): string[] {
  const { tool } = filling;
  const own = ownStems(filling);
  const name = splitWords(tool.name);
  const verb = verbOf(filling.phrase);
  const isOwnVerb = LOOSE_VERBS.has(verb) || verbFit(verb, name, tool.annotations?.readOnlyHint === true) > 0;
  // A listing tool returns everything, unless its result may be a page.
  const listsAll = !mayBeOnePage(tool) && name.some((word) => /^(?:list|search|find|query)$/u.test(word));
  let isFirst = true;
  return filling.tokens.flatMap((token, at) => {
    if (isSmall(token) || token.kind === "mark") return [];
    const begins = isFirst;
    isFirst = false;
    if (!filling.isFree(at)) return [];
    if (token.kind !== "word") return [token.text];
    if (begins && token.lower === verb && isOwnVerb) return [];
    if (token.lower === "all" && listsAll) return [];
    return isClaimed(token.lower, own, name) && !isObject(at, filling, name) ? [] : [token.text];
  });
}

function isClaimed(word: string, own: ReadonlySet<string>, name: readonly string[]): boolean {
  if (name.includes(word)) return true;
  const parts = splitWords(word);
  if (parts.length > 1) return parts.every((part) => isClaimed(part, own, name));
  if (DEMANDING_WORDS.has(word) || POINTING.has(word)) return false;
  if (word === "'s" || isStopWord(word) || SMALL_TALK.has(word) || TOOL_WORDS.has(word)) return true;
  if (/\p{L}(?:est|er)$/u.test(word) && !name.includes(word) && !own.has(word)) return false;
  return meaningsOf(word).some((one) => own.has(one));
}

/** The stems of the tool's own words. A parameter without a value claims no words. */
function ownStems({ tool, args }: Filling): ReadonlySet<string> {
  const [about = ""] = tool.description.split(/(?<=\.)\s|\n/u);
  const parameters = readParameters(tool).filter(({ name }) => args.has(name));
  const outputs = Object.keys(tool.outputSchema?.properties ?? tool.outputSchema?.items?.properties ?? {});
  const texts = [
    tool.name,
    tool.server,
    about,
    ...outputs,
    ...parameters.map(({ name, role }) => `${name} ${role}`),
  ];
  return new Set([
    ...texts.flatMap((text) => splitStems(text.slice(0, 500))),
    ...parameters.flatMap(({ schema }) => splitWords((schema.description ?? "").slice(0, 200)).map(stem)),
  ]);
}
