import type { LexicalIndex } from "./lexical-index.ts";
import { readQuery } from "./query.ts";

/** Weight of a match by spelling, multiplied by the square of its similarity. */
const SIMILAR_WORD_WEIGHT = 0.5;
/** The most rare words of a text that have to be explained: long texts tell of much that no tool does. */
const MAX_EXPLAINED_WORDS = 2;
/** The most parts of one query that are searched separately. */
export const MAX_PARTS = 64;

/** BM25F scores of a text by document. Cached for each text. */
export type Scorer = (text: string) => Float32Array;

/** Creates a scorer with a cache of its own. */
export function createScorer(index: LexicalIndex): Scorer {
  const known = new Map<string, Float32Array>();
  return (text) => {
    const scores = known.get(text) ?? scoreText(index, text);
    known.set(text, scores);
    return scores;
  };
}

/** BM25F of one text against every document, similar spellings included. */
function scoreText(index: LexicalIndex, text: string): Float32Array {
  const totals = new Float32Array(index.tools.length);
  const best = new Float32Array(index.tools.length);
  for (const [word, weight] of readQuery(text)) {
    const touched: number[] = [];
    const exact = index.vocabulary.find(word);
    if (exact !== undefined) {
      collect(index, exact, weight, best, touched);
    }
    for (const { term, similarity } of index.vocabulary.similar(word)) {
      collect(index, term, weight * SIMILAR_WORD_WEIGHT * similarity ** 2, best, touched);
    }
    for (const document of touched) {
      totals[document] = (totals[document] ?? 0) + (best[document] ?? 0);
      best[document] = 0;
    }
  }
  return totals;
}

function collect(
  index: LexicalIndex,
  term: number,
  weight: number,
  best: Float32Array,
  touched: number[],
): void {
  const inverse = (index.inverseFrequency[term] ?? 0) * weight;
  const end = index.starts[term + 1] ?? 0;
  for (let at = index.starts[term] ?? 0; at < end; at++) {
    const document = index.documents[at] ?? 0;
    const score = inverse * (index.impacts[at] ?? 0);
    const before = best[document] ?? 0;
    if (before === 0) {
      touched.push(document);
    }
    if (score > before) {
      best[document] = score;
    }
  }
}

/** The inverse document frequency of a word that no tool has. */
function unknownWordScore(index: LexicalIndex): number {
  return Math.log(1 + (index.tools.length + 0.5) / 0.5);
}

/** The sum of the inverse document frequencies of a text's words: the score of a tool that has them all. */
export function idealScore(index: LexicalIndex, text: string): number {
  const unknown = unknownWordScore(index);
  let ideal = 0;
  for (const [word, weight] of readQuery(text)) {
    const term = index.vocabulary.find(word);
    ideal += weight * (term === undefined ? unknown : (index.inverseFrequency[term] ?? 0));
  }
  return ideal;
}

/** The share that the best tool explains of a text's words by their rarity, at most as much as a few rare ones, 0 to 1. */
export function explainedShare(index: LexicalIndex, text: string, scores: Float32Array): number {
  const said = Math.min(idealScore(index, text), MAX_EXPLAINED_WORDS * unknownWordScore(index));
  return said === 0 ? 0 : Math.min(1, highest(scores) / said);
}

/** The highest score; 0 for none. */
export function highest(scores: Float32Array): number {
  let top = 0;
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    if (score > top) {
      top = score;
    }
  }
  return top;
}
