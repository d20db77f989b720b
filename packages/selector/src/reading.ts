import { isStopWord, splitWords, stem } from "@cem/text";
import { askedActions, isGeneralVerb, type Action } from "./actions.ts";
import { readHints, type Hint } from "./hints.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { isRequestStem } from "./query.ts";

/** How much a word tells about which tool is meant. */
const OBJECT_WEIGHT = 1;
const GENERAL_VERB_WEIGHT = 0.35;
const GENERAL_NOUN_WEIGHT = 0.4;
const VALUE_WEIGHT = 0.15;
/** A word this like one that the catalog has is that word, misspelled. */
const KNOWN_SIMILARITY = 0.8;
const MAX_NUMBER_SEARCH_CHARACTERS = 1_000;
/** The most words of one part that are read. */
const MAX_PART_WORDS = 48;

/** Nouns that go with nearly every tool. */
const GENERAL_NOUNS: ReadonlySet<string> = new Set(
  `data information info detail details result results value values item items name names number numbers output
  response content contents test example step task tool skill new current first second third last next back number
  called named today tomorrow now day week metadata latest most least top`
    .split(/\s+/)
    .map(stem),
);
/** `cheapest`, `highest`: what to do with results, rather than which. */
const SUPERLATIVE = /^\p{L}{3,}est$/u;
/** Words that only count or point. */
const QUANTITIES: ReadonlySet<string> = new Set(
  "many much each every several various following starting start one two three four five six seven eight nine ten"
    .split(" ")
    .map(stem),
);
const CONTENT_MARKS: ReadonlySet<string> = new Set("with containing contains saying including".split(" "));
/** `add 5 and 3`, `sum of two and five`, `add 3 to the result`: there is something to work with. */
const NUMBER = String.raw`(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|fifty|hundred)\b)`;
const NUMBERS = new RegExp(
  String.raw`${NUMBER}[^\d]{0,200}?${NUMBER}|^\s*(?:add|sum|plus)\s+-?${NUMBER}`,
  "iu",
);
const PREPOSITIONS: ReadonlySet<string> = new Set(
  "in for at near from to of with on by about into as".split(" "),
);
const REFERENCE = /\b(?:it|them|that|those|this|these|the same|back|again)\b/iu;

export interface Term {
  /** As the user wrote it, in lower case. */
  word: string;
  stem: string;
  weight: number;
  /** A word like `get`, which can't choose a tool by itself. */
  general: boolean;
}

/** One part of a task, as the search for its tool understands it. */
export interface Reading {
  terms: Term[];
  hints: Hint[];
  /** What its leading verb asks for; empty when it has none that is known. */
  actions: ReadonlySet<Action>;
  /** Whether it speaks of something said before: `read it back`. */
  refersBack: boolean;
}

/** Reads one part of a task: which words tell what is wanted, and which are only values. */
export function readPart(text: string, index: LexicalIndex): Reading {
  const { hints, rest } = readHints(text);
  const terms = new Map<string, Term>();
  let actions: ReadonlySet<Action> | undefined;
  const hasNumbers = NUMBERS.test(text.slice(0, MAX_NUMBER_SEARCH_CHARACTERS));
  let afterPreposition = false;
  let inContent = false;
  for (const token of rest.split(/[\s,;:!?()]+/u)) {
    for (const word of splitWords(token)) {
      const key = stem(word);
      inContent ||= CONTENT_MARKS.has(word) && terms.size > 0;
      if (isStopWord(word) || isRequestStem(key) || QUANTITIES.has(key)) {
        afterPreposition = PREPOSITIONS.has(word);
        actions ??= nonEmpty(askedActions(word));
        continue;
      }
      const leads = terms.size === 0;
      if (leads) {
        actions ??= askedActions(word);
      }
      const isName = !leads && (/^\p{Lu}/u.test(token) || token.includes("_"));
      const weight = weigh(
        key,
        word,
        { isValue: !leads && (isName || afterPreposition || inContent), hasNumbers },
        index,
      );
      if (!terms.has(key) && terms.size < MAX_PART_WORDS) {
        terms.set(key, { word, stem: key, weight, general: weight < OBJECT_WEIGHT });
      }
    }
  }
  return {
    terms: [...terms.values()],
    hints,
    actions: actions ?? new Set(),
    refersBack: REFERENCE.test(rest),
  };
}

function nonEmpty<T>(set: ReadonlySet<T>): ReadonlySet<T> | undefined {
  return set.size > 0 ? set : undefined;
}

function isKnown(word: string, index: LexicalIndex): boolean {
  return (
    index.vocabulary.find(word) !== undefined ||
    index.vocabulary.similar(word).some(({ similarity }) => similarity >= KNOWN_SIMILARITY)
  );
}

interface Place {
  /** It stands where values stand: a name, or after a preposition. */
  isValue: boolean;
  hasNumbers: boolean;
}

function weigh(key: string, word: string, place: Place, index: LexicalIndex): number {
  if (place.isValue && !isKnown(key, index)) {
    return VALUE_WEIGHT;
  }
  if (isGeneralVerb(key, place.hasNumbers)) {
    return GENERAL_VERB_WEIGHT;
  }
  return GENERAL_NOUNS.has(key) || SUPERLATIVE.test(word) ? GENERAL_NOUN_WEIGHT : OBJECT_WEIGHT;
}
