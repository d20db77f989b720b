import { assertKnownOptions } from "@cem/core";
import type { RankedTool, Selection, ToolDefinition, ToolSelector } from "@cem/core";
import { createCatalogCache, type IndexedCatalog } from "./search/catalog-cache.ts";
import {
  best,
  matchReason,
  tellingWords,
  NAMED_REASON,
  ranked,
  CLOSE_EXPLAINED,
  fitsActionAlone,
  keepRelevant,
  MEANING_REASON,
  rankAll,
} from "./search/results.ts";
import { fuse, fuseRelevant } from "./semantic/fusion.ts";
import { createSemanticSearch, type SemanticState, type Embedder } from "./semantic/semantic-search.ts";

/** Tools with at least this share of the best score are selected too. Chosen on the evaluation sets, like the other bounds. */
const CLOSE_MARGIN = 0.6;
const MAX_CLOSE_TOOLS = 8;
const NEAREST_TOOLS = 3;

/** Selects the tools that a task names, and those that rank near the best, if the best explains enough of the task. */
function selectTools(
  { index, rank }: IndexedCatalog,
  task: string,
  { threshold, limit }: { threshold: number; limit: number },
  meaning: Float32Array | undefined,
): Selection {
  const { scores, explained } = rank(task);
  const ranks = meaning === undefined ? scores : fuse(scores, meaning);
  const named = index.namedIn(task);
  const order = best(ranks, MAX_CLOSE_TOOLS + NEAREST_TOOLS + named.size);
  const top = ranks[order[0] ?? -1] ?? 0;
  const share = (document: number): number => (top === 0 ? 0 : (ranks[document] ?? 0) / top);
  const isExplained = explained >= threshold;
  const own = isExplained ? threshold + (1 - threshold) * Math.min(1, explained) : explained;
  // Of tools with the same name on several servers, the named ones are meant.
  const names = new Set([...named].map((document) => index.tools[document]?.name));
  const isClose = (document: number) =>
    share(document) >= CLOSE_MARGIN && !names.has(index.tools[document]?.name);
  const close = isExplained ? order.filter(isClose) : [];
  const chosen = [...new Set([...named, ...close.slice(0, MAX_CLOSE_TOOLS)])].slice(0, Math.max(0, limit));
  const telling = tellingWords(task);
  const give = (document: number, isNamed: boolean): RankedTool[] =>
    isNamed
      ? ranked(index, document, 1, NAMED_REASON)
      : ranked(index, document, own * share(document), matchReason(index, document, telling));
  const selected = chosen.flatMap((document) => give(document, named.has(document)));
  const others = order.filter((document) => !chosen.includes(document)).slice(0, NEAREST_TOOLS);
  return { selected, nearest: others.flatMap((document) => give(document, false)) };
}

/** The default share of a task that the best tool must explain. */
export const DEFAULT_THRESHOLD = 0.25;
/** The default number of tools that `select` returns at most. */
export const DEFAULT_SELECT_LIMIT = 20;
/** The default number of tools that `search` returns at most. */
export const DEFAULT_SEARCH_LIMIT = 10;
/**
 * The longest task or query that is read as a whole, in UTF-16 units. Of a longer one, only the beginning and the end
 * are read.
 */
export const MAX_TASK_CHARACTERS = 10_000;

/** A name as code writes it, `git_clean` or `git.clean`: someone who asks for that tool wants no others. */
const NAME = /^[\w.-]+$/u;
const JOINT = /[_.]/u;
const NO_EMBEDDER = "no embedding model is set";
const NO_CLOSE_MATCH = "no close match: no tool is about enough of these words";

/** Settings of {@link createSelector}. */
export interface SelectorSettings {
  /**
   * The share of a task's most distinctive words that the best tool must explain for any to be selected, 0 to 1.
   *
   * @defaultValue {@link DEFAULT_THRESHOLD}
   */
  threshold?: number | undefined;
  /**
   * Embedding model for semantic search. It is disposed with the selector.
   *
   * @defaultValue none, which means lexical search only
   */
  embedder?: Embedder | undefined;
  /**
   * How long a search waits for the vectors of a catalog, in milliseconds, and then for that of its query. After that
   * it is lexical; the computation continues.
   *
   * @defaultValue 0: it waits only for its query, up to two seconds
   */
  patienceMs?: number | undefined;
  /**
   * Folder for vectors and for the index of a large catalog, for the next process.
   *
   * @defaultValue none
   */
  cacheDir?: string | undefined;
}

const AMOUNT = "a number from 0 on";
const OPTIONS = { threshold: AMOUNT, patienceMs: AMOUNT, embedder: "an object", cacheDir: true } as const;

/** A tool selector with optional semantic search. */
export interface Selector extends ToolSelector {
  /** The state of semantic search; `off` without an embedder. */
  readonly semantics: SemanticState;
  /**
   * Indexes a catalog and computes its vectors. Resolves when both are ready or the vectors can't be computed; never
   * rejects because of the embedder (see `semantics`).
   */
  prepare(tools: readonly ToolDefinition[], catalogVersion?: string): Promise<void>;
  /** Aborts running computations and disposes the embedder. */
  dispose(): Promise<void>;
}

/**
 * Creates a selector with lexical search: BM25F over stemmed names, descriptions and parameters, tolerant of
 * misspellings. With an embedder it adds semantic search as soon as the vectors of the catalog are computed; until then,
 * and when the embedder fails, search is lexical. The indexes of the most recent catalogs are cached.
 *
 * `select` and `search` throw the reason of an aborted `signal`.
 */
export function createSelector(settings: SelectorSettings = {}): Selector {
  assertKnownOptions(settings, OPTIONS, "createSelector");
  const { threshold = DEFAULT_THRESHOLD, embedder, cacheDir, patienceMs = 0 } = settings;
  const catalogOf = createCatalogCache(cacheDir);
  const semantic =
    embedder === undefined ? undefined : createSemanticSearch(embedder, { cacheDir, patienceMs });
  const notesOn = (meaning: Float32Array | undefined): string[] => {
    if (meaning !== undefined) return ["by words and by meaning"];
    return [`by words only: ${semantic === undefined ? NO_EMBEDDER : reasonOf(semantic.state)}`];
  };
  return {
    specificationVersion: "v1",

    get semantics() {
      return semantic?.state ?? { state: "off" };
    },

    async prepare(tools, catalogVersion) {
      const { index } = await catalogOf(tools, catalogVersion);
      await semantic?.prepare(index);
    },

    async dispose() {
      await semantic?.dispose();
    },

    async select({ task, tools, catalogVersion, limit = DEFAULT_SELECT_LIMIT, signal }) {
      signal?.throwIfAborted();
      const catalog = await catalogOf(tools, catalogVersion);
      const text = endsOf(task);
      const meaning = await semantic?.similarities(catalog.index, text, signal);
      return { ...selectTools(catalog, text, { threshold, limit }, meaning), notes: notesOn(meaning) };
    },

    async search({ task, tools, catalogVersion, limit = DEFAULT_SEARCH_LIMIT, signal, onNote }) {
      signal?.throwIfAborted();
      const { index, rank } = await catalogOf(tools, catalogVersion);
      const text = endsOf(task);
      const meaning = await semantic?.similarities(index, text, signal);
      for (const note of notesOn(meaning)) onNote?.(note);
      const ranks = rank(text);
      const named = index.namedIn(text);
      const written = text.trim();
      const isName = named.size > 0 && NAME.test(written) && JOINT.test(written);
      const relevant = isName ? new Float32Array(ranks.scores.length) : keepRelevant(ranks, named);
      const found =
        meaning === undefined || isName
          ? rankAll(index, relevant, named, text, limit)
          : rankAll(index, fuseRelevant(ranks.scores, relevant, meaning), named, text, limit, MEANING_REASON);
      if (found.length === 0) onNote?.(NO_CLOSE_MATCH);
      const [first] = found;
      const isDoubtful =
        first !== undefined &&
        meaning === undefined &&
        named.size === 0 &&
        (ranks.explained < CLOSE_EXPLAINED || fitsActionAlone(index, first.tool, text));
      return isDoubtful ? found.map((one) => ({ ...one, isDoubtful })) : found;
    },
  };
}

/** Removes the middle, where pasted data is: the request is before or after it. */
function endsOf(task: string): string {
  if (task.length <= MAX_TASK_CHARACTERS) return task;
  const half = MAX_TASK_CHARACTERS / 2;
  return `${task.slice(0, half)}\n${task.slice(-half)}`;
}

function reasonOf(state: SemanticState): string {
  if (state.state === "failed") return state.reason;
  if (state.state === "ready") return "the embedding model did not answer in time";
  const share = state.state === "computing" ? ` (${state.done} of ${state.total})` : "";
  return `the tools are still being embedded${share}`;
}
