import type { LexicalIndex } from "./lexical-index.ts";
import { readQuery } from "./query.ts";

/** What a word that is only spelled alike is worth, times its similarity squared. */
const SIMILAR_WORD_WEIGHT = 0.5;
/** How much a tool gains by the best tools of its server: tasks tend to stay with one server. */
const SERVER_WEIGHT = 0.2;
const SERVER_TOOLS = 2;
/** How much the best part of a query counts beside the whole. */
const PART_WEIGHT = 0.5;
/** The most parts of one query that are searched one by one. */
export const MAX_PARTS = 64;

/**
 * How well each document fits a query of one or more parts, 0 to 1; 1 would be a tool that is all the query says.
 * The whole query, its best part and the rest of the tool's server count.
 */
export function rankDocuments(
  index: LexicalIndex,
  whole: string,
  parts: readonly string[],
  score: Scorer = createScorer(index),
): Float32Array {
  const scores = score(whole).slice();
  const ideal = idealScore(index, whole);
  let scale = 1;
  if (parts.length > 1) {
    const best = bestOfParts(index, parts.slice(0, MAX_PARTS), score);
    const top = highest(scores) || 1;
    for (let at = 0; at < scores.length; at++) {
      scores[at] = (scores[at] ?? 0) + PART_WEIGHT * top * (best[at] ?? 0);
    }
    scale += PART_WEIGHT;
  }
  if (index.serverCount > 1) {
    addServers(index, scores);
    scale *= 1 + SERVER_WEIGHT;
  }
  for (let at = 0; at < scores.length; at++) {
    scores[at] = Math.min(1, (scores[at] ?? 0) / (ideal * scale || 1));
  }
  return scores;
}

/** BM25F of a text against every document, worked out once for each text. */
export type Scorer = (text: string) => Float32Array;

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

/** What a word counts that no tool has: it is as rare as can be. */
export function unknownWordScore(index: LexicalIndex): number {
  return Math.log(1 + (index.tools.length + 0.5) / 0.5);
}

/** What a tool would score that had every word of a text. */
export function idealScore(index: LexicalIndex, text: string): number {
  const unknown = unknownWordScore(index);
  let ideal = 0;
  for (const [word, weight] of readQuery(text)) {
    const term = index.vocabulary.find(word);
    ideal += weight * (term === undefined ? unknown : (index.inverseFrequency[term] ?? 0));
  }
  return ideal;
}

function bestOfParts(index: LexicalIndex, parts: readonly string[], score: Scorer): Float32Array {
  const best = new Float32Array(index.tools.length);
  for (const part of new Set(parts)) {
    const scores = score(part);
    const top = highest(scores) || 1;
    for (let at = 0; at < scores.length; at++) {
      best[at] = Math.max(best[at] ?? 0, (scores[at] ?? 0) / top);
    }
  }
  return best;
}

function addServers(index: LexicalIndex, scores: Float32Array): void {
  const bestOf = Array.from({ length: index.serverCount }, (): number[] => []);
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] ?? 0;
    if (score > 0) {
      bestOf[index.serverOf[at] ?? 0]?.push(score);
    }
  }
  const gains = bestOf.map((list) => {
    list.sort((one, other) => other - one);
    const sum = list.slice(0, SERVER_TOOLS).reduce((total, score) => total + score, 0);
    return (SERVER_WEIGHT * sum) / SERVER_TOOLS;
  });
  for (let at = 0; at < scores.length; at++) {
    if ((scores[at] ?? 0) > 0) {
      scores[at] = (scores[at] ?? 0) + (gains[index.serverOf[at] ?? 0] ?? 0);
    }
  }
}

function highest(scores: Float32Array): number {
  let top = 0;
  for (const score of scores) {
    if (score > top) {
      top = score;
    }
  }
  return top;
}
