import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { queryStems } from "./reading.ts";

/** The most rare words of a text that have to be explained: long texts tell of much that no tool does. */
const MAX_EXPLAINED_WORDS = 2;
/** The most parts of one query that are searched separately. */
export const MAX_PARTS = 64;

/** The inverse document frequency of a word that no tool has. */
function unknownWordScore(index: LexicalIndex): number {
  return Math.log(1 + (index.tools.length + 0.5) / 0.5);
}

/** The sum of the inverse document frequencies of a text's words: the score of a tool that has them all. */
export function idealScore(index: LexicalIndex, text: string): number {
  const unknown = unknownWordScore(index);
  let ideal = 0;
  for (const word of queryStems(text)) {
    const term = index.vocabulary.find(word);
    ideal += term === undefined ? unknown : (index.inverseFrequency[term] ?? 0);
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
