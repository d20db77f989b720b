import type { RankedTool, Selection, SelectRequest, ToolSelector } from "@cem/core";
import { splitSteps } from "@cem/text";
import { IndexCache } from "./index-cache.ts";
import { findNamed } from "./named-tools.ts";
import { rankDocuments } from "./ranking.ts";
import { rankAll } from "./results.ts";
import { TaskSelection } from "./task-selection.ts";

/** The score from which a tool fits a part of a task. */
export const DEFAULT_THRESHOLD = 0.45;
/** The most tools that `select` returns. */
export const DEFAULT_SELECT_LIMIT = 20;
/** The most tools that `search` returns. */
export const DEFAULT_SEARCH_LIMIT = 10;
/** How much of a task is read, in UTF-16 units. */
export const MAX_TASK_CHARACTERS = 200_000;

export interface SelectorSettings {
  /** 0 to 1: how well a tool must fit a part of a task to be selected. Default {@link DEFAULT_THRESHOLD}. */
  threshold?: number;
}

/**
 * Makes a selector that compares words: BM25F over split and stemmed names, descriptions and parameters, forgiving
 * in spelling. It keeps the index of the last catalogs it saw.
 */
export function createSelector(settings: SelectorSettings = {}): ToolSelector {
  const { threshold = DEFAULT_THRESHOLD } = settings;
  const indexes = new IndexCache();
  return {
    specificationVersion: "v1",

    async select({ task, tools, limit = DEFAULT_SELECT_LIMIT, signal }: SelectRequest): Promise<Selection> {
      signal?.throwIfAborted();
      const index = indexes.get(tools);
      const selection = new TaskSelection(index, threshold);
      return selection.run(task.slice(0, MAX_TASK_CHARACTERS), limit, signal);
    },

    async search({
      task,
      tools,
      limit = DEFAULT_SEARCH_LIMIT,
      signal,
    }: SelectRequest): Promise<RankedTool[]> {
      signal?.throwIfAborted();
      const index = indexes.get(tools);
      const text = task.slice(0, MAX_TASK_CHARACTERS);
      const parts = splitSteps(text).map((step) => step.text);
      const scores = rankDocuments(index, text, parts);
      const named = findNamed(index.names, text);
      return rankAll(index, scores, named, text, limit);
    },
  };
}
