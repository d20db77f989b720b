import { isStopWord, splitStems, splitWords, stem } from "@cem/core/text";
import { readHints } from "../words/hints.ts";
import { askedActions, isGeneralVerb, NO_ACTIONS, type Actions } from "../words/verbs.ts";

const MAX_QUERY_WORDS = 256;
const REQUEST_STEMS: ReadonlySet<string> = new Set(
  `additionally assist assistance curious gonna gotta help hello hey hi interested know let like looking
  love maybe need please planning thing things try trying tell wanna want wish wondering
  u ur pls plz thx ok okay hey right`
    .split(/\s+/)
    .map(stem),
);

/** Whether a stem is that of a word that only phrases a request: `please`, `want`, `help`. */
export function isRequestStem(word: string): boolean {
  return REQUEST_STEMS.has(word);
}

/** The stems of a query, without words that only phrase the request unless there are no others. */
export function queryStems(text: string): ReadonlySet<string> {
  const stems = splitStems(text);
  const telling = stems.filter((word) => !isRequestStem(word));
  return new Set([...new Set(telling.length > 0 ? telling : stems)].slice(0, MAX_QUERY_WORDS));
}

/** Weights of words by their role in the text. */
const OBJECT_WEIGHT = 1;
const GENERAL_VERB_WEIGHT = 0.35;
const GENERAL_NOUN_WEIGHT = 0.4;
const MAX_PART_WORDS = 48;

/** Stems of nouns that fit nearly every tool. */
const GENERAL_NOUNS: ReadonlySet<string> = new Set(
  `data information info detail details result results value values item items name names number numbers output
  response content contents contain test example step task tool skill new current first second third last next back number
  called named today tomorrow now day week metadata latest most least top`
    .split(/\s+/)
    .map(stem),
);

export type Reading = ReturnType<typeof readPart>;

/** Analyses one part of a task: what it asks for, and how much each of its words says about that. */
export function readPart(text: string) {
  const { hints, rest } = readHints(text);
  /** By stem. A general word, like `get`, selects no tool. */
  const terms = new Map<string, { word: string; stem: string; weight: number; general: boolean }>();
  let actions: Actions | undefined;
  for (const word of splitWords(rest)) {
    const key = stem(word);
    if (isStopWord(word) || isRequestStem(key)) {
      actions ??= askedActions(word) || undefined;
      continue;
    }
    if (terms.size === 0) actions ??= askedActions(word);
    if (!terms.has(key) && terms.size < MAX_PART_WORDS) {
      const weight = weigh(key);
      terms.set(key, { word, stem: key, weight, general: weight < OBJECT_WEIGHT });
    }
  }
  return { terms: [...terms.values()], hints, actions: actions ?? NO_ACTIONS };
}

function weigh(key: string): number {
  if (isGeneralVerb(key)) return GENERAL_VERB_WEIGHT;
  return GENERAL_NOUNS.has(key) ? GENERAL_NOUN_WEIGHT : OBJECT_WEIGHT;
}
