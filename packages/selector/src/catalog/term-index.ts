import { editDistance } from "@cem/core/text";
import { addMember, createLookup, toGroups } from "./groups.ts";

/** A word of the vocabulary with a similar spelling. The similarity is 0 to 1. */
type SimilarWord = { term: number; similarity: number };

const SPACE = 32;
const CODE_UNITS = 0x1_0000;

export type Grams = ReturnType<typeof readGrams>;

/** Reads the trigrams of words, with a space at both ends of each. Words too short to be compared have none. */
export function readGrams(words: readonly string[]) {
  const termsOf = new Map<number, number[]>();
  const counts = new Uint32Array(words.length);
  for (const [term, word] of words.entries()) {
    if (word.length < MIN_WORD_CHARACTERS) continue;
    eachGram(word, (code) => {
      if (addMember(termsOf, code, term)) counts[term] = (counts[term] ?? 0) + 1;
    });
  }
  return { ...toGroups(termsOf), counts };
}

/** Creates a function that finds the words that are similar to a word by at least this Dice coefficient, 0 to 1, in no order. */
function compareGrams(all: Grams) {
  const { counts } = all;
  const termsOf = createLookup(all);
  /** The number of trigrams that each word shares with the query; all zero between two queries. */
  const sharedBy = new Uint32Array(counts.length);
  return (word: string, least: number): SimilarWord[] => {
    const grams = new Set<number>();
    eachGram(word, (code) => grams.add(code));
    const touched: number[] = [];
    for (const code of grams) {
      for (const term of termsOf(code)) {
        const shared = sharedBy[term] ?? 0;
        if (shared === 0) touched.push(term);
        sharedBy[term] = shared + 1;
      }
    }
    const found: SimilarWord[] = [];
    for (const term of touched) {
      const similarity = (2 * (sharedBy[term] ?? 0)) / (grams.size + (counts[term] ?? 0));
      sharedBy[term] = 0;
      if (similarity >= least) found.push({ term, similarity });
    }
    return found;
  };
}

/** The trigrams of ` word ` in UTF-16 units, each as one number; those of ASCII are small integers. */
function eachGram(word: string, found: (code: number) => void): void {
  if (word === "") return;
  let before = SPACE;
  let middle = word.charCodeAt(0);
  for (let at = 1; at <= word.length; at++) {
    const next = at === word.length ? SPACE : word.charCodeAt(at);
    found(codeOf(before, middle, next));
    before = middle;
    middle = next;
  }
}

const ASCII_BITS = 7;
const ASCII_CODES = 1 << (3 * ASCII_BITS);

function codeOf(one: number, two: number, three: number): number {
  return (one | two | three) >> ASCII_BITS === 0
    ? (one << (2 * ASCII_BITS)) | (two << ASCII_BITS) | three
    : ASCII_CODES + (one * CODE_UNITS + two) * CODE_UNITS + three;
}

/** Shorter words have too few n-grams to compare. */
const MIN_WORD_CHARACTERS = 4;
/** Minimum Dice coefficient of the n-grams of similar words. */
const MIN_SIMILARITY = 0.5;
/** Minimum Dice coefficient of words that are compared by edit distance. */
const MIN_COMPARED_SIMILARITY = 0.3;
/** A misspelling has at most one edit per this many characters, or two letters swapped, and the same first letter. */
const CHARACTERS_PER_TYPO = 6;
const TYPO_SIMILARITY = 0.85;
const MAX_SIMILAR_WORDS = 8;

/** The numbered words of a catalog, with lookup by similar spelling. */
export type TermIndex = ReturnType<typeof createTermIndex>;

/** Creates a vocabulary of some words, with their trigrams if they were read before. */
export function createTermIndex(words: string[] = [], grams?: Grams) {
  const numbers = new Map(words.map((word, number) => [word, number]));
  let alike: ReturnType<typeof compareGrams> | undefined;

  function typoSimilarity(word: string, term: number): number {
    const known = words[term] ?? "";
    if (known[0] !== word[0] || Math.max(known.length, word.length) < CHARACTERS_PER_TYPO) return 0;
    const edits = editDistance(word, known);
    const isTypo =
      edits <= Math.floor(known.length / CHARACTERS_PER_TYPO) ||
      (edits === 2 && sortLetters(word) === sortLetters(known));
    return isTypo ? TYPO_SIMILARITY : 0;
  }

  return {
    get size() {
      return words.length;
    },
    add(word: string): number {
      const number = numbers.get(word) ?? words.push(word) - 1;
      numbers.set(word, number);
      return number;
    },
    find: (word: string) => numbers.get(word),
    /** The words with a similar spelling, most similar first, without the word itself. */
    similar(word: string): readonly SimilarWord[] {
      if (word.length < MIN_WORD_CHARACTERS) return [];
      alike ??= compareGrams(grams ?? readGrams(words));
      const self = numbers.get(word);
      return alike(word, MIN_COMPARED_SIMILARITY)
        .filter(({ term }) => term !== self)
        .map(({ term, similarity }) => ({
          term,
          similarity: Math.max(similarity, typoSimilarity(word, term)),
        }))
        .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
        .toSorted((one, other) => other.similarity - one.similarity || one.term - other.term)
        .slice(0, MAX_SIMILAR_WORDS);
    },
  };
}

function sortLetters(word: string): string {
  return Array.from(word).toSorted().join("");
}
