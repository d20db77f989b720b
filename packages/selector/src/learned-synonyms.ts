import { fieldMask } from "./document.ts";
import type { LexicalIndex } from "./lexical-index.ts";

/** The least number of tools in which two words must occur together. */
const MIN_TOOLS = 2;
/** The least product of the shares of each word's tools that have both. */
const MIN_CERTAINTY = 0.3;
const MAX_SYNONYMS = 3;
/** Words of more tools than this, and than this share of the catalog, are too common to be synonyms. */
const MAX_TOOLS = 8;
const MAX_CATALOG_SHARE = 0.05;

const LABEL_FIELDS = fieldMask(["name", "title", "server"]);
const TEXT_FIELDS = fieldMask(["name", "title", "server", "summary"]);

/** A synonym found in the catalog. */
export interface LearnedSynonym {
  term: number;
  /** 0 to 1. */
  certainty: number;
}

/**
 * Synonyms learned from a catalog: words of names that always occur together with a word, such as `acr` in names with
 * `container registries` in the description.
 */
export class LearnedSynonyms {
  readonly #index: LexicalIndex;
  /** The terms in each document's name, title and server. */
  #labels: number[][] | undefined;
  #labelCounts = new Uint32Array();

  constructor(index: LexicalIndex) {
    this.#index = index;
  }

  /** The learned synonyms of a term, the most certain first. */
  of(term: number): LearnedSynonym[] {
    const documents = this.#documentsOf(term, TEXT_FIELDS);
    const most = Math.max(MAX_TOOLS, this.#index.tools.length * MAX_CATALOG_SHARE);
    if (documents.length < MIN_TOOLS || documents.length > most) {
      return [];
    }
    const labels = (this.#labels ??= this.#readLabels());
    const together = new Map<number, number>();
    for (const document of documents) {
      for (const other of labels[document] ?? []) {
        if (other !== term) {
          together.set(other, (together.get(other) ?? 0) + 1);
        }
      }
    }
    return [...together]
      .filter(([, count]) => count >= MIN_TOOLS)
      .map(([other, count]) => ({
        term: other,
        certainty: count ** 2 / (documents.length * (this.#labelCounts[other] ?? 1)),
      }))
      .filter(({ certainty }) => certainty >= MIN_CERTAINTY)
      .toSorted((one, other) => other.certainty - one.certainty || one.term - other.term)
      .slice(0, MAX_SYNONYMS);
  }

  #readLabels(): number[][] {
    const labels = this.#index.tools.map((): number[] => []);
    this.#labelCounts = new Uint32Array(this.#index.vocabulary.size);
    for (let term = 0; term < this.#labelCounts.length; term++) {
      const documents = this.#documentsOf(term, LABEL_FIELDS);
      this.#labelCounts[term] = documents.length;
      for (const document of documents) {
        labels[document]?.push(term);
      }
    }
    return labels;
  }

  #documentsOf(term: number, fields: number): number[] {
    const { starts, documents, masks } = this.#index;
    const found: number[] = [];
    const end = starts[term + 1] ?? 0;
    for (let at = starts[term] ?? 0; at < end; at++) {
      if (((masks[at] ?? 0) & fields) !== 0) {
        found.push(documents[at] ?? 0);
      }
    }
    return found;
  }
}
