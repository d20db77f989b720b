import { fieldMask } from "./document.ts";
import { LearnedSynonyms } from "./learned-synonyms.ts";
import type { LexicalIndex } from "./lexical-index.ts";
import { relatedTo } from "./related-words.ts";
import { synonymsOf } from "./synonyms.ts";

/** Factor for synonyms. Tuned over all evaluation sets together, like the other factors. */
const SYNONYM_FACTOR = 0.4;
const RELATED_FACTOR = 0.25;
/** Factor for related words when the catalog has the word itself. */
const RELATED_OF_KNOWN_FACTOR = 0.2;
/** Multiplied by the similarity of the spelling. */
const SIMILAR_FACTOR = 0.5;
/** Multiplied by the certainty of the learned synonym. */
const LEARNED_FACTOR = 0.2;
const MAX_REMEMBERED_WORDS = 10_000;

const TELLING_FIELDS = fieldMask(["name", "title", "server", "summary"]);

/** A term of the catalog that matches a word. */
export interface Expansion {
  term: number;
  /** Weight of the match, 0 to 1. */
  factor: number;
}

/** Query expansion for one catalog: the terms that match a word, its synonyms, related words and other spellings. */
export class Expansions {
  readonly #index: LexicalIndex;
  readonly #learned: LearnedSynonyms;
  readonly #known = new Map<string, readonly Expansion[]>();

  constructor(index: LexicalIndex) {
    this.#index = index;
    this.#learned = new LearnedSynonyms(index);
  }

  /** The terms that match a word, each once. */
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
