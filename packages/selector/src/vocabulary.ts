import { editDistance } from "@cem/core/text";
import { GramIndex } from "./gram-index.ts";

/** Shorter words have too few n-grams to be compared by them. */
const MIN_WORD_CHARACTERS = 4;
/** The least Dice coefficient of the n-grams of similar words. */
const MIN_SIMILARITY = 0.5;
/** The least Dice coefficient of words that are compared by edit distance. */
const MIN_COMPARED_SIMILARITY = 0.3;
/** A misspelling has at most one edit per this many characters, or two letters swapped, and the same first letter. */
const CHARACTERS_PER_TYPO = 6;
const TYPO_SIMILARITY = 0.85;
const MAX_SIMILAR_WORDS = 8;
const MAX_REMEMBERED_WORDS = 10_000;

/** A word of the vocabulary with a similar spelling. */
export interface SimilarWord {
  term: number;
  /** 0 to 1. */
  similarity: number;
}

/** The numbered words of a catalog, with lookup by similar spelling. */
export class Vocabulary {
  readonly #numbers = new Map<string, number>();
  readonly #words: string[] = [];
  readonly #similar = new Map<string, SimilarWord[]>();
  #grams: GramIndex | undefined;

  /** The words in the order of their numbers. */
  get words(): readonly string[] {
    return this.#words;
  }

  get size(): number {
    return this.#words.length;
  }

  /** Adds a word, unless it is known; returns its number. */
  add(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) {
      return known;
    }
    const number = this.#words.push(word) - 1;
    this.#numbers.set(word, number);
    return number;
  }

  /** The number of a word; `undefined` for an unknown one. */
  find(word: string): number | undefined {
    return this.#numbers.get(word);
  }

  /** The words with a similar spelling, most similar first, without the word itself. */
  similar(word: string): readonly SimilarWord[] {
    const remembered = this.#similar.get(word);
    if (remembered !== undefined) {
      return remembered;
    }
    const found = word.length < MIN_WORD_CHARACTERS ? [] : this.#findSimilar(word);
    if (this.#similar.size >= MAX_REMEMBERED_WORDS) {
      this.#similar.clear();
    }
    this.#similar.set(word, found);
    return found;
  }

  #findSimilar(word: string): SimilarWord[] {
    const comparable = (known: string) => (known.length < MIN_WORD_CHARACTERS ? "" : known);
    this.#grams ??= new GramIndex(this.#words.map(comparable));
    const self = this.find(word);
    const found: SimilarWord[] = [];
    for (const { text: term, similarity: alike } of this.#grams.alike(word, MIN_COMPARED_SIMILARITY)) {
      const similarity = Math.max(alike, this.#typoSimilarity(word, term));
      if (similarity >= MIN_SIMILARITY && term !== self) {
        found.push({ term, similarity });
      }
    }
    found.sort((one, other) => other.similarity - one.similarity || one.term - other.term);
    return found.slice(0, MAX_SIMILAR_WORDS);
  }

  #typoSimilarity(word: string, term: number): number {
    const known = this.#words[term] ?? "";
    if (known[0] !== word[0] || Math.max(known.length, word.length) < CHARACTERS_PER_TYPO) {
      return 0;
    }
    const edits = editDistance(word, known);
    const isTypo =
      edits <= Math.floor(known.length / CHARACTERS_PER_TYPO) ||
      (edits === 2 && sortLetters(word) === sortLetters(known));
    return isTypo ? TYPO_SIMILARITY : 0;
  }
}

function sortLetters(word: string): string {
  return Array.from(word).toSorted().join("");
}
