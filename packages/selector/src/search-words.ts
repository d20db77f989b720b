import { isStopWord, splitWords, stem } from "@cem/core/text";
import { readQuery } from "./query.ts";
import type { Reading } from "./reading.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** Exponent of a word's weight by its role (verb, value, general noun). */
const READING_EXPONENT = 0.5;
/** Factor for words that occur only after a preposition: `in the resource group` says where, not what. */
const TAIL_WEIGHT = 0.9;
/** Weight of two adjacent words that the catalog writes as one: `event grid`, `eventgrid`. */
const JOINED_WEIGHT = 0.7;
/** Prepositions before circumstances. `for`, `of` and `about` stand before the object itself. */
const TAIL_MARKS: ReadonlySet<string> = new Set(
  "in from under using with at on within into by via".split(" "),
);
/** The least number of words before the first preposition that counts. */
const MIN_HEAD_WORDS = 2;

/** The stems to search for in one text, with their weights. */
export function searchWords(text: string, reading: Reading, vocabulary: Vocabulary): Map<string, number> {
  const weights = new Map(readQuery(text));
  const temper = (key: string, factor: number): void => {
    const weight = weights.get(key);
    if (weight !== undefined) {
      weights.set(key, weight * factor);
    }
  };
  for (const term of reading.terms) {
    temper(term.stem, term.weight ** READING_EXPONENT);
  }
  for (const key of tailStems(text)) {
    temper(key, TAIL_WEIGHT);
  }
  for (const key of joinedStems(text, vocabulary)) {
    if (!weights.has(key)) {
      weights.set(key, JOINED_WEIGHT);
    }
  }
  return weights;
}

/** The stems that occur only after a preposition in their sentence. */
function tailStems(text: string): string[] {
  const head = new Set<string>();
  const tail = new Set<string>();
  let inTail = false;
  let count = 0;
  for (const token of text.split(/\s+/u)) {
    for (const word of splitWords(token)) {
      inTail ||= count >= MIN_HEAD_WORDS && TAIL_MARKS.has(word);
      if (!isStopWord(word)) {
        count += 1;
        (inTail ? tail : head).add(stem(word));
      }
    }
    if (/[.,;!?]$/u.test(token)) {
      inTail = false;
      count = 0;
    }
  }
  return [...tail].filter((key) => !head.has(key));
}

function joinedStems(text: string, vocabulary: Vocabulary): Set<string> {
  const words = splitWords(text);
  const found = new Set<string>();
  for (const [at, word] of words.entries()) {
    const key = stem(word + (words[at + 1] ?? ""));
    if (at + 1 < words.length && vocabulary.find(key) !== undefined) {
      found.add(key);
    }
  }
  return found;
}
