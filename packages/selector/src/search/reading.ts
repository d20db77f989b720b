import { isStopWord, splitStems, splitWords, stem } from "@cem/core/text";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { readHints, type Hint } from "../words/hints.ts";
import { askedActions, isGeneralVerb, NO_ACTIONS, type Actions } from "../words/verbs.ts";

/** The most distinct words of one query. */
const MAX_QUERY_WORDS = 256;
/** Stems of words that only phrase a request. */
const REQUEST_STEMS: ReadonlySet<string> = new Set(
  `additionally assist assistance curious going gonna gotta help hello hey hi interested know let like looking
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
const VALUE_WEIGHT = 0.15;
/** A word that the catalog lacks, before one that it has: `inactive users`. */
const MODIFIER_WEIGHT = 0.6;
/** The similarity from which a word counts as a misspelling of one in the catalog. */
const KNOWN_SIMILARITY = 0.8;
const MAX_NUMBER_SEARCH_CHARACTERS = 1_000;
/** The most terms of one part. */
const MAX_PART_WORDS = 48;

/** Stems of nouns that fit nearly every tool. */
const GENERAL_NOUNS: ReadonlySet<string> = new Set(
  `data information info detail details result results value values item items name names number numbers output
  response content contents contain test example step task tool skill new current first second third last next back number
  called named today tomorrow now day week metadata latest most least top`
    .split(/\s+/)
    .map(stem),
);
/** `cheapest`, `highest`: said of results. */
const SUPERLATIVE = /^\p{L}{3,}(?:est|iest)$/u;
/** `most expensive`, `how old`: the next word says how to compare. */
const DEGREES: ReadonlySet<string> = new Set("how most least more less".split(" "));
/** `sorted by age`: said of results. */
const ARRANGED = /^(?:sort|order|group|filter|rank|limit)ed$/u;
/** Stems of words that only count or refer. */
const QUANTITIES: ReadonlySet<string> = new Set(
  "many much each every several various following starting start beginning begin ones one two three four five six seven eight nine ten"
    .split(" ")
    .map(stem),
);
/** `add 5 and 3`, `sum of two and five`, `add 3 to the result`: a calculation. */
const NUMBER = String.raw`(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred)\b)`;
const NUMBERS = new RegExp(
  String.raw`${NUMBER}[^\d]{0,200}?${NUMBER}|^\s*(?:add|sum|plus)\s+-?${NUMBER}`,
  "iu",
);
const PREPOSITIONS: ReadonlySet<string> = new Set(
  "in for at near from to of with on by about into as".split(" "),
);

/** A word of a part that is searched for. */
export interface Term {
  /** The word as written, in lower case. */
  word: string;
  stem: string;
  weight: number;
  /** Whether it is too general to select a tool, like `get`. */
  general: boolean;
}

/** The analysis of one part of a task. */
export interface Reading {
  terms: Term[];
  hints: Hint[];
  /** The actions its leading verb asks for; empty when it has no known one. */
  actions: Actions;
}

/** Analyses one part of a task: which words say what is wanted, and which are values. */
export function readPart(text: string, index: LexicalIndex): Reading {
  const { hints, rest } = readHints(text);
  const terms = new Map<string, Term>();
  let actions: Actions | undefined;
  const hasNumbers = NUMBERS.test(text.slice(0, MAX_NUMBER_SEARCH_CHARACTERS));
  let afterPreposition = false;
  let afterDegree = false;
  let opens = true;
  let modifier: Term | undefined;
  for (const token of rest.split(/[\s,;:!?()]+/u)) {
    for (const word of splitWords(token)) {
      const key = stem(word);
      if (isStopWord(word) || isRequestStem(key) || QUANTITIES.has(key)) {
        afterPreposition = PREPOSITIONS.has(word);
        afterDegree = DEGREES.has(word);
        opens = false;
        modifier = undefined;
        actions ??= askedActions(word) || undefined;
        continue;
      }
      const leads = terms.size === 0;
      if (leads) {
        actions ??= askedActions(word);
      }
      const isName = (!leads || !opens) && (/^\p{Lu}/u.test(token) || token.includes("_"));
      const weight = weigh(
        key,
        word,
        { isValue: isName || (!leads && afterPreposition), isDegree: afterDegree, hasNumbers },
        index,
      );
      afterDegree = DEGREES.has(word);
      opens = false;
      const term: Term = { word, stem: key, weight, general: weight < OBJECT_WEIGHT };
      const known = isKnown(key, index);
      if (modifier !== undefined && known && !term.general) {
        modifier.weight = MODIFIER_WEIGHT;
      }
      modifier =
        known || term.general || (leads && (actions ?? NO_ACTIONS) !== NO_ACTIONS) ? undefined : term;
      if (!terms.has(key) && terms.size < MAX_PART_WORDS) {
        terms.set(key, term);
      }
    }
  }
  return {
    terms: [...terms.values()],
    hints,
    actions: actions ?? NO_ACTIONS,
  };
}

function isKnown(word: string, index: LexicalIndex): boolean {
  return (
    index.vocabulary.find(word) !== undefined ||
    index.vocabulary.similar(word).some(({ similarity }) => similarity >= KNOWN_SIMILARITY)
  );
}

/** The position of a word in its text. */
interface WordPosition {
  /** Whether it is in the place of a value: a proper name, or after a preposition. */
  isValue: boolean;
  isDegree: boolean;
  hasNumbers: boolean;
}

function weigh(key: string, word: string, place: WordPosition, index: LexicalIndex): number {
  if (place.isValue && !isKnown(key, index)) {
    return VALUE_WEIGHT;
  }
  if (isGeneralVerb(key, place.hasNumbers)) {
    return GENERAL_VERB_WEIGHT;
  }
  const compares = SUPERLATIVE.test(word) || ARRANGED.test(word) || (place.isDegree && !isKnown(key, index));
  return GENERAL_NOUNS.has(key) || compares ? GENERAL_NOUN_WEIGHT : OBJECT_WEIGHT;
}
