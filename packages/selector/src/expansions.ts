import { fieldMask } from "./document.ts";
import { LearnedSynonyms } from "./learned-synonyms.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { relatedTo } from "./related-words.ts";
import { synonymsOf } from "./synonyms.ts";

/** What a word found instead of the one asked for is worth. Chosen over all evaluation sets together. */
const SYNONYM_FACTOR = 0.4;
const RELATED_FACTOR = 0.25;
/** Related words tell less where the catalog has the word itself. */
const RELATED_OF_KNOWN_FACTOR = 0.2;
/** Times how alike the spelling is. */
const SIMILAR_FACTOR = 0.5;
/** Times how surely the catalog uses both for one thing. */
const LEARNED_FACTOR = 0.2;
const MAX_REMEMBERED_WORDS = 10_000;

const TELLING_FIELDS = fieldMask(["name", "title", "server", "summary"]);

/** A term of the catalog that answers to a word, and what it is worth, 0 to 1. */
export interface Expansion {
  term: number;
  factor: number;
}

/** The terms of one catalog that a word may stand for: itself, synonyms, related words and other spellings. */
export class Expansions {
  readonly #index: LexicalIndex;
  readonly #learned: LearnedSynonyms;
  readonly #known = new Map<string, readonly Expansion[]>();

  constructor(index: LexicalIndex) {
    this.#index = index;
    this.#learned = new LearnedSynonyms(index);
  }

  of(word: string): readonly Expansion[] {
    const known = this.#known.get(word);
    if (known !== undefined) {
      return known;
    }
    const found = this.#expand(word);
    if (this.#known.size >= MAX_REMEMBERED_WORDS) {
      this.#known.clear();
    }
    this.#known.set(word, found);
    return found;
  }

  #expand(word: string): Expansion[] {
    const { vocabulary, fieldsOf } = this.#index;
    const best = new Map<number, number>();
    const add = (term: number | undefined, factor: number): void => {
      if (term !== undefined && factor > (best.get(term) ?? 0)) {
        best.set(term, factor);
      }
    };
    const own = vocabulary.find(word);
    const isTelling = own !== undefined && ((fieldsOf[own] ?? 0) & TELLING_FIELDS) !== 0;
    add(own, 1);
    for (const synonym of synonymsOf(word)) {
      add(vocabulary.find(synonym), SYNONYM_FACTOR);
    }
    for (const related of relatedTo(word)) {
      add(vocabulary.find(related), isTelling ? RELATED_OF_KNOWN_FACTOR : RELATED_FACTOR);
    }
    for (const { term, similarity } of vocabulary.similar(word)) {
      add(term, SIMILAR_FACTOR * similarity);
    }
    for (const { term, certainty } of own === undefined ? [] : this.#learned.of(own)) {
      add(term, LEARNED_FACTOR * certainty);
    }
    return [...best].map(([term, factor]) => ({ term, factor }));
  }
}
