import type { LexicalIndex } from "./lexical-index.ts";
import { explainedShare, type Scorer } from "./ranking.ts";

/** The size from which a catalog is searched by rank: from there on the rarity of words is informative. */
export const MIN_LARGE_CATALOG_TOOLS = 50;
/** Tools with this share of the best score are chosen with the best. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 5;
/** The share of a task that the best tool must cover, as a share of the threshold. */
const COVER_OF_THRESHOLD = 0.66;
/** The most parts whose best tool is chosen on its own. */
const MAX_OWN_PARTS = 4;

/** A document with its score. */
export interface RankedDocument {
  document: number;
  /** 0 to 1. */
  score: number;
}

/**
 * Chooses the tools of a large catalog that rank near the best for a task, and the best of each part. None when even the
 * best one covers too little, which means that only common words matched.
 *
 * @param score - BM25F scores of a text.
 * @param rank - The ranking of the whole task, computed when it is needed.
 * @param threshold - The selector's threshold, 0 to 1.
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
  const cover = explainedShare(index, task, whole);
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
    const partCover = explainedShare(index, part, scores);
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
