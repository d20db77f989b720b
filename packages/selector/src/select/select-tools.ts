import type { RankedTool, Selection } from "@cem/core";
import type { IndexedCatalog } from "../search/catalog-cache.ts";
import { best, knownWords, matchReason, NAMED_REASON, ranked } from "../search/results.ts";
import { fuse } from "../semantic/fusion.ts";

/** Tools with this share of the best rank are selected with the best. Chosen on the evaluation sets, like the other bounds. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 8;
const NEAREST_TOOLS = 3;

/** Inputs of a selection beside the catalog and the task. */
interface SelectionBounds {
  /** The share of the task that the best tool must explain. */
  threshold: number;
  /** The most tools that are selected. */
  limit: number;
  /** Semantic similarities by document, where there are any. */
  meaning: Float32Array | undefined;
}

/** Selects the tools that a task names, and those that rank near the best, where the best explains enough of the task. */
export function selectTools(
  { index, ranking }: IndexedCatalog,
  task: string,
  { threshold, limit, meaning }: SelectionBounds,
): Selection {
  const { scores, explained } = ranking.rank(task);
  const ranks = meaning === undefined ? scores : fuse(scores, meaning);
  const named = index.names.findIn(task);
  const order = best(ranks, MAX_CLOSE_TOOLS + NEAREST_TOOLS + named.size);
  const top = ranks[order[0] ?? -1] ?? 0;
  const share = (document: number): number => (top === 0 ? 0 : (ranks[document] ?? 0) / top);
  const isExplained = explained >= threshold;
  const own = isExplained ? threshold + (1 - threshold) * Math.min(1, explained) : explained;
  const close = isExplained ? order.filter((document) => share(document) >= CLOSE_MARGIN) : [];
  const chosen = [...new Set([...named, ...close.slice(0, MAX_CLOSE_TOOLS)])].slice(0, Math.max(0, limit));
  const give = (document: number, isNamed: boolean): RankedTool[] =>
    isNamed
      ? ranked(index, document, 1, NAMED_REASON)
      : ranked(index, document, own * share(document), matchReason(knownWords(index, document, task)));
  const selected = chosen.flatMap((document) => give(document, named.has(document)));
  const others = order.filter((document) => !chosen.includes(document)).slice(0, NEAREST_TOOLS);
  return { selected, nearest: others.flatMap((document) => give(document, false)) };
}
