import type { LexicalIndex } from "./lexical-index.ts";
import { idealScore, unknownWordScore, type Scorer } from "./ranking.ts";

/** From so many tools on, how rare a word is says which of them is meant. */
export const MIN_LARGE_CATALOG_TOOLS = 50;
/** Tools that rank this close to the best are chosen with it. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 5;
/** How much of a task the best tool must explain, as a share of the threshold. */
const COVER_OF_THRESHOLD = 0.66;
/** Rare words to explain: what a long task says beyond so many counts no more. */
const MAX_EXPLAINED_WORDS = 2;
/** Parts whose best tool is chosen whatever the rest of the task says. */
const MAX_OWN_PARTS = 4;

export interface RankedDocument {
  document: number;
  /** 0 to 1. */
  score: number;
}

/**
 * The tools that rank near the best for a task, and the best of each part. None where even the best one explains too
 * little: then only its common words were found.
 */
export function chooseByRank(
  index: LexicalIndex,
  score: Scorer,
  rank: () => Float32Array,
  task: string,
  parts: readonly string[],
  threshold: number,
): RankedDocument[] {
  const floor = threshold * COVER_OF_THRESHOLD;
  const chosen: RankedDocument[] = [];
  const whole = score(task);
  const cover = coverOf(index, task, whole);
  if (cover >= floor) {
    const close = highest(rank(), MAX_CLOSE_TOOLS);
    const top = close[0]?.score ?? 0;
    for (const tool of close) {
      if (tool.score >= top * CLOSE_MARGIN) {
        chosen.push({ document: tool.document, score: scoreOf(cover, threshold) * (tool.score / top) });
      }
    }
  }
  for (const part of parts.length > 1 ? parts.slice(0, MAX_OWN_PARTS) : []) {
    const scores = score(part);
    const partCover = coverOf(index, part, scores);
    const [best] = highest(scores, 1);
    if (best !== undefined && partCover >= floor) {
      chosen.push({ document: best.document, score: scoreOf(partCover, threshold) });
    }
  }
  return chosen;
}

function scoreOf(cover: number, threshold: number): number {
  return threshold + (1 - threshold) * Math.min(1, cover);
}

/** How much of what a text says its best tool explains, 0 to 1. */
function coverOf(index: LexicalIndex, text: string, scores: Float32Array): number {
  const said = Math.min(idealScore(index, text), MAX_EXPLAINED_WORDS * unknownWordScore(index));
  return said === 0 ? 0 : (highest(scores, 1)[0]?.score ?? 0) / said;
}

/** The documents with the highest scores above 0, best first; equal scores in the order of their ids. */
function highest(scores: Float32Array, count: number): RankedDocument[] {
  const best: RankedDocument[] = [];
  for (let document = 0; document < scores.length; document++) {
    const score = scores[document] ?? 0;
    if (score > (best.length < count ? 0 : (best.at(-1)?.score ?? 0))) {
      const at = best.findIndex((other) => other.score < score);
      best.splice(at < 0 ? best.length : at, 0, { document, score });
      best.length = Math.min(best.length, count);
    }
  }
  return best;
}
