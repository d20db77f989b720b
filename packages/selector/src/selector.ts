import type { RankedTool, Selection, SelectRequest, ToolDefinition, ToolSelector } from "@cem/core";
import { CatalogCache } from "./catalog-cache.ts";
import { findNamed } from "./named-tools.ts";
import { MEANING_REASON, rankAll } from "./results.ts";
import type { Embedder } from "./semantic/embedder.ts";
import { fuse } from "./semantic/fusion.ts";
import { SemanticSearch, type SemanticState } from "./semantic/semantic-search.ts";
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
  threshold?: number | undefined;
  /** Compares by meaning too. It is disposed with the selector. Default: words only. */
  embedder?: Embedder | undefined;
  /** Folder in which indexes of large catalogs and vectors are kept for the next process. Default: nowhere. */
  cacheDir?: string | undefined;
}

/** A selector that may compare by meaning. */
export interface Selector extends ToolSelector {
  /** How far the comparison by meaning is; `off` without an embedder. */
  readonly semantics: SemanticState;
  /** Indexes a catalog and computes its vectors. Ends when both are there, or the vectors can't be had. */
  prepare(tools: readonly ToolDefinition[]): Promise<void>;
  /** Stops what is being computed and frees the embedder. */
  dispose(): Promise<void>;
}

/**
 * Makes a selector that compares words: BM25F over split and stemmed names, descriptions and parameters, forgiving
 * in spelling. With an embedder it compares meaning too, from when the vectors of the catalog are there; until then,
 * and when the embedder fails, words decide. It keeps the index of the last catalogs it saw.
 */
export function createSelector(settings: SelectorSettings = {}): Selector {
  const { threshold = DEFAULT_THRESHOLD, embedder, cacheDir } = settings;
  const catalogs = new CatalogCache(cacheDir);
  const semantic = embedder === undefined ? undefined : new SemanticSearch(embedder, cacheDir);
  return {
    specificationVersion: "v1",

    get semantics(): SemanticState {
      return semantic?.state ?? { state: "off" };
    },

    async prepare(tools) {
      const { index } = await catalogs.get(tools);
      await semantic?.prepare(index);
    },

    async dispose() {
      await semantic?.dispose();
    },

    async select({ task, tools, limit = DEFAULT_SELECT_LIMIT, signal }: SelectRequest): Promise<Selection> {
      signal?.throwIfAborted();
      const catalog = await catalogs.get(tools);
      const text = task.slice(0, MAX_TASK_CHARACTERS);
      const meaning = await semantic?.similarities(catalog.index, text, signal);
      const selection = new TaskSelection(catalog, threshold, meaning);
      return { ...selection.run(text, limit, signal), notes: notesOn(semantic?.state, meaning) };
    },

    async search({
      task,
      tools,
      limit = DEFAULT_SEARCH_LIMIT,
      signal,
      onNote,
    }: SelectRequest): Promise<RankedTool[]> {
      signal?.throwIfAborted();
      const { index, ranking } = await catalogs.get(tools);
      const text = task.slice(0, MAX_TASK_CHARACTERS);
      const meaning = await semantic?.similarities(index, text, signal);
      for (const note of notesOn(semantic?.state, meaning)) onNote?.(note);
      const scores = ranking.rank(text);
      const named = findNamed(index.names, text);
      if (meaning === undefined) return rankAll(index, scores, named, text, limit);
      return rankAll(index, fuse(scores, meaning), named, text, limit, MEANING_REASON);
    },
  };
}

function notesOn(state: SemanticState | undefined, meaning: Float32Array | undefined): string[] {
  if (meaning !== undefined) return ["by words and by meaning"];
  if (state === undefined) return ["by words only: no embedding model is set"];
  if (state.state === "failed") return [`by words only: ${state.reason}`];
  return ["by words only: the tools are still being embedded"];
}
