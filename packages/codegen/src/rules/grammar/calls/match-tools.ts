import { lookUp } from "../../language/look-up.ts";
import type { ToolDefinition } from "@cem/core";
import { isStopWord, PROPERTY_WORDS, splitWords, stem } from "@cem/text";
import { enumOf } from "./parameters.ts";
import { sameMeaning } from "./synonyms.ts";
import { isKnownVerb, verbFit } from "./verbs.ts";

/** How well a tool suits a step. */
export interface ToolMatch {
  tool: ToolDefinition;
  score: number;
  /** The step says the tool's name, or all that the name says. */
  isStrong: boolean;
}

/** Below this a tool has nothing to do with a step. */
const MIN_MATCH_SCORE = 1.5;

interface StepWords {
  verb: string | undefined;
  words: Set<string>;
  plain: string;
}

/** What a text shows without naming it: a path is a file, an address with an at sign is an email. */
const EVIDENCE: readonly [RegExp, string][] = [
  [/(?:^|[\s"'(])(?:\.{0,2}\/)?[\w.-]*(?:\/[\w.-]+)*\.[a-z][a-z0-9]{0,4}\b(?!@)/iu, "file"],
  [/(?:^|\s)\/[\w.-]+/u, "directory folder file path"],
  [/(?<!\S)[^\s@]+@[^\s.]+\.\w/u, "email address"],
  [/https?:\/\//iu, "url page website link"],
  [/\d\s*[+*/^]\s*\d|\d\s+-\s+\d/u, "expression calculate arithmetic"],
  [/\bselect\b(?:(?!\bselect\b)[\s\S])+?\bfrom\b/iu, "sql query database"],
  [/\b(?:USD|EUR|GBP|JPY|CHF|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|BRL|MXN|KRW)\b/u, "currency"],
  [/(?:^|\s)#[a-z][\w-]*/u, "channel message"],
];

/** Ranks tools for a step, best first; those that don't suit it are left out. */
export function matchTools(
  step: string,
  tools: readonly ToolDefinition[],
  { anyVerb = false }: { anyVerb?: boolean } = {},
): ToolMatch[] {
  const words = anyVerb ? { ...readStep(step), verb: undefined } : readStep(step);
  return tools
    .map((tool) => match(words, tool))
    .filter((found) => found !== undefined)
    .toSorted((a, b) => b.score - a.score);
}

/** The verb that a step begins with. */
export function verbOf(step: string): string | undefined {
  const words = splitWords(step.slice(0, 200).replace(/\b(what|where|who|how|when)['’]s\b/iu, "$1 is")).slice(
    0,
    6,
  );
  const first = words.find(
    (word) => !/^(?:please|also|the|a|an|me|now|just|i|we|you|to|can|could|new)$/u.test(word),
  );
  if (first !== undefined && /^(?:what|how|is|are|where|when|who|which|does|do|will)$/u.test(first))
    return first;
  return first !== undefined && isKnownVerb(first) ? first : undefined;
}

function readStep(step: string): StepWords {
  const text = step.slice(0, 4_000);
  const evidence = EVIDENCE.filter(([pattern]) => pattern.test(text)).map(([, words]) => words);
  const words = splitWords(`${text} ${evidence.join(" ")}`);
  const first = splitWords(text).slice(0, 1)[0];
  const meant = words.flatMap((word) => splitWords(lookUp(PROPERTY_WORDS, word)?.join(" ") ?? ""));
  return {
    verb: verbOf(text) ?? first,
    words: new Set([...words, ...meant].flatMap((word) => sameMeaning(stem(word)))),
    plain: ` ${splitWords(text).join(" ")} `,
  };
}

function match(step: StepWords, tool: ToolDefinition): ToolMatch | undefined {
  const known = wordsOf(tool);
  const { nameWords } = known;
  const isNamed =
    step.plain.includes(` ${nameWords.join(" ")} `) && (nameWords.length > 1 || tool.name.includes("_"));
  const verb = verbFit(step.verb, nameWords, tool.annotations?.readOnlyHint === true);
  const nouns = nameWords.filter((word) => !isKnownVerb(word) && !isStopWord(word));
  const nounHits = nouns.filter((word) => has(step, word)).length;
  const nounShare = nouns.length === 0 ? 0 : nounHits / nouns.length;
  const serverHits = known.serverWords.filter((word) => word !== step.verb && has(step, word)).length;
  const descriptionHits = countHits(step, known.description);
  const outputHits = countHits(step, known.output);
  const parameterHits = countHits(step, known.parameters);
  if (verb < 0 && !isNamed) return undefined;
  const enumHits = countHits(step, known.values);
  const isSearch =
    step.verb === "search" &&
    verb === 1 &&
    /(?:^|\W)(?:query|q|keywords?|term)(?:$|\W)/iu.test(
      Object.keys(tool.inputSchema.properties ?? {}).join(" "),
    );
  const subject =
    nounShare > 0 ||
    serverHits > 0 ||
    isNamed ||
    (outputHits > 0 && verb > 0) ||
    (enumHits > 0 && verb > 0) ||
    isSearch;
  const isVerbOnly = nouns.length === 0 && verb === 1;
  const described =
    descriptionHits >= 2 ||
    (outputHits >= 1 && verb >= 0.4) ||
    (descriptionHits >= 1 && (verb > 0 || step.verb === "what" || step.verb === "is"));
  if (!subject && !isVerbOnly && !described) return undefined;
  const score =
    4 * nounShare +
    2.5 * verb +
    1.2 * Math.min(serverHits, 1) +
    0.5 * Math.min(descriptionHits, 4) +
    Math.min(outputHits, 2) +
    Math.min(enumHits, 2) +
    0.3 * Math.min(parameterHits, 3) +
    (isNamed ? 6 : 0) +
    (isVerbOnly ? 2 : 0) -
    0.02 * nameWords.length;
  if (score < MIN_MATCH_SCORE && !(subject && verb >= 0 && score >= 2)) return undefined;
  const isStrong =
    isNamed ||
    (verb > 0 && nounShare === 1) ||
    (step.verb === undefined && nounShare > 0) ||
    (nouns.length === 0 && verb === 1 && (serverHits > 0 || descriptionHits >= 2));
  return { tool, score, isStrong };
}

/** Values that a tool's parameters are limited to. */
function enumWords(tool: ToolDefinition): string {
  const values = Object.values(tool.inputSchema.properties ?? {}).flatMap((schema) => enumOf(schema));
  return values.slice(0, 200).join(" ");
}

/** Names of what a tool gives back. */
function outputWords(tool: ToolDefinition): string {
  const { outputSchema } = tool;
  const items = outputSchema?.items?.properties ?? {};
  return [...Object.keys(outputSchema?.properties ?? {}), ...Object.keys(items)].join(" ");
}

function has(step: StepWords, word: string): boolean {
  return sameMeaning(stem(word)).some((one) => step.words.has(one));
}

/** The words of a tool, and the stems of what is said about it beside its name. */
interface ToolWords {
  nameWords: readonly string[];
  serverWords: readonly string[];
  description: ReadonlySet<string>;
  output: ReadonlySet<string>;
  parameters: ReadonlySet<string>;
  /** Of the values that its parameters are limited to. */
  values: ReadonlySet<string>;
}

/** Definitions are never changed in place, so their words are read once. */
const toolWords = new WeakMap<ToolDefinition, ToolWords>();

function wordsOf(tool: ToolDefinition): ToolWords {
  const known = toolWords.get(tool);
  if (known !== undefined) return known;
  const nameWords = splitWords(tool.name);
  const parameters = Object.keys(tool.inputSchema.properties ?? {}).join(" ");
  const words = {
    nameWords,
    serverWords: splitWords(tool.server),
    description: stemsBeside(nameWords, `${tool.description} ${tool.originalName ?? ""}`),
    output: stemsBeside(nameWords, outputWords(tool)),
    parameters: stemsBeside(nameWords, parameters),
    values: stemsBeside(nameWords, enumWords(tool)),
  };
  toolWords.set(tool, words);
  return words;
}

function stemsBeside(nameWords: readonly string[], text: string): Set<string> {
  const inName = new Set(nameWords.map(stem));
  const stems = splitWords(text.slice(0, 2_000))
    .filter((word) => word.length > 2 && !isStopWord(word))
    .map(stem);
  return new Set(stems.filter((word) => !inName.has(word)));
}

function countHits(step: StepWords, stems: ReadonlySet<string>): number {
  let hits = 0;
  for (const word of stems) if (step.words.has(word)) hits += 1;
  return hits;
}
