import { isStopWord, splitWords, stem } from "@cem/text";
import { readQuery } from "./query.ts";
import type { Reading } from "./reading.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** How strongly a word's place in the text (verb, value, general noun) tempers it. */
const READING_EXPONENT = 0.5;
/** What a word counts that stands only after a preposition: `in the resource group` says where, not what. */
const TAIL_WEIGHT = 0.9;
/** What two neighbours count that the catalog writes as one word: `event grid`, `eventgrid`. */
const JOINED_WEIGHT = 0.7;
/** Prepositions after which circumstances follow. `for`, `of` and `about` lead to the object itself. */
const TAIL_MARKS: ReadonlySet<string> = new Set(
  "in from under using with at on within into by via".split(" "),
);
/** The object comes first: no tail begins before so many words. */
const MIN_HEAD_WORDS = 2;

/** The stems to search for in one text and how much each counts. */
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

/** Stems that stand only after a preposition of their sentence. */
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
