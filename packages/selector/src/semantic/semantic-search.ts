import { abandonOnAbort, type ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/core/text";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { createVectorCache } from "./vector-cache.ts";

/** An embedding model. Implement your own, or use one of this package. */
export interface Embedder {
  readonly specificationVersion: "v1";
  /**
   * Identifies the model and everything that changes its vectors. It is part of the cache key of vectors, so that
   * vectors of different models are never mixed.
   */
  readonly id: string;
  /** Computes a vector for each text, in order and all of the same length. They need not be normalised. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<(Float32Array | number[])[]>;
  /** Frees the resources of the embedder. It is not used afterwards. */
  dispose?(): Promise<void>;
}

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions {
  /** Whether the texts are queries or documents: some models treat them differently. */
  kind: "query" | "document";
  signal?: AbortSignal | undefined;
}

/**
 * The state of semantic search: `off` without an embedder, `idle` before the first catalog, `computing` while `done` of
 * `total` tools are embedded, `ready`, or `failed`; a failed embedder is retried after a minute.
 */
export type SemanticState =
  | { state: "off" }
  | { state: "idle" | "ready" }
  | { state: "computing"; done: number; total: number }
  | { state: "failed"; reason: string };

/** Texts per call to the embedder. The vectors are cached after each call. */
const BATCH_TEXTS = 64;
const MAX_TOOL_CHARACTERS = 2_000;
const MAX_QUERY_CHARACTERS = 4_000;
/** The timeout for the vector of a query, after which search is lexical. */
const QUERY_TIMEOUT_MS = 2_000;
const RETRY_AFTER_MS = 60_000;
const MAX_REMEMBERED_QUERIES = 256;
const MAX_CATALOGS = 4;
const UNALIKE = "the embedder gave vectors of different lengths or too few";

interface Vectors {
  dimensions: number;
  /** Unit vectors, one after another in the order of the index. */
  data: Float32Array;
}

/** Compares queries with tools by vectors, computed in the background. `patienceMs`: how long a query waits for those. */
export function createSemanticSearch(
  embedder: Embedder,
  { cacheDir, patienceMs }: { cacheDir: string | undefined; patienceMs: number },
) {
  const cache = createVectorCache(embedder.id, cacheDir);
  const catalogs = new Map<LexicalIndex, Vectors>();
  const queries = new Map<string, Float32Array>();
  const stop = new AbortController();
  let state: SemanticState = { state: "idle" };
  let failedAt = -Infinity;
  let work: Promise<void> = Promise.resolve();

  const isBackingOff = (): boolean => performance.now() - failedAt < RETRY_AFTER_MS;

  const fail = (error: unknown): void => {
    if (stop.signal.aborted) return;
    failedAt = performance.now();
    state = { state: "failed", reason: error instanceof Error ? error.message : String(error) };
  };

  /** Calls the embedder, and stops waiting when the signal aborts. */
  const embed: Embedder["embed"] = (texts, options) => {
    const ask = async (): ReturnType<Embedder["embed"]> => embedder.embed(texts, options);
    return abandonOnAbort(ask(), options.signal);
  };

  const compute = async (texts: readonly string[]): Promise<Vectors> => {
    const known = await cache.get(texts);
    const missing = [...new Set(texts.filter((_, at) => known[at] === undefined))];
    for (let at = 0; at < missing.length; at += BATCH_TEXTS) {
      state = { state: "computing", done: at, total: missing.length };
      const batch = missing.slice(at, at + BATCH_TEXTS);
      const vectors = await embed(batch, { kind: "document", signal: stop.signal });
      await cache.add(batch, vectors.map(normalise));
    }
    const all = await cache.get(texts);
    const dimensions = all[0]?.length ?? 0;
    const data = new Float32Array(texts.length * dimensions);
    for (const [at, vector] of all.entries()) {
      if (vector?.length !== dimensions) throw new Error(UNALIKE);
      data.set(vector, at * dimensions);
    }
    return { dimensions, data };
  };

  const computeOnce = async (index: LexicalIndex): Promise<void> => {
    if (catalogs.has(index) || isBackingOff() || stop.signal.aborted) return;
    try {
      catalogs.set(index, await compute(index.tools.map(textOf)));
      const [oldest] = catalogs.keys();
      if (catalogs.size > MAX_CATALOGS && oldest !== undefined) catalogs.delete(oldest);
      state = { state: "ready" };
    } catch (error) {
      fail(error);
    }
  };

  const prepare = (index: LexicalIndex): Promise<void> => {
    if (catalogs.has(index) || isBackingOff()) return Promise.resolve();
    work = work.then(() => computeOnce(index));
    return work;
  };

  /** Starts the computation of a catalog's vectors, and waits for it as long as the settings say. */
  const awaitVectors = async (index: LexicalIndex, signal: AbortSignal | undefined) => {
    const prepared = prepare(index);
    if (patienceMs > 0) {
      const limits = [AbortSignal.timeout(patienceMs), signal].filter((one) => one !== undefined);
      await abandonOnAbort(prepared, AbortSignal.any(limits)).catch(() => signal?.throwIfAborted());
    }
    return catalogs.get(index);
  };

  const embedQuery = async (text: string, dimensions: number, signal: AbortSignal | undefined) => {
    const known = queries.get(text);
    if (known !== undefined) return known;
    const deadline = AbortSignal.timeout(Math.max(QUERY_TIMEOUT_MS, patienceMs));
    try {
      const signals = [deadline, stop.signal, signal].filter((one) => one !== undefined);
      const [vector = []] = await embed([text], { kind: "query", signal: AbortSignal.any(signals) });
      const query = normalise(vector);
      if (query.length !== dimensions) throw new Error(UNALIKE);
      if (queries.size >= MAX_REMEMBERED_QUERIES) queries.clear();
      queries.set(text, query);
      return query;
    } catch (error) {
      signal?.throwIfAborted();
      if (!deadline.aborted) fail(error);
      return undefined;
    }
  };

  return {
    get state(): SemanticState {
      return state;
    },
    /** The cosine similarity of each tool, −1 to 1; `undefined` while vectors are not ready, and if the embedder fails or is slow. */
    async similarities(index: LexicalIndex, text: string, signal: AbortSignal | undefined) {
      const vectors = catalogs.get(index) ?? (await awaitVectors(index, signal));
      if (vectors === undefined || isBackingOff()) return undefined;
      const query = await embedQuery(text.slice(0, MAX_QUERY_CHARACTERS), vectors.dimensions, signal);
      return query && compare(vectors, query);
    },
    prepare,
    async dispose(): Promise<void> {
      stop.abort();
      await work;
      await embedder.dispose?.();
    },
  };
}

function textOf({ server, name, description, annotations }: ToolDefinition): string {
  const title = annotations?.title ?? splitWords(name).join(" ");
  return `${splitWords(server).join(" ")}: ${title}. ${description}`.slice(0, MAX_TOOL_CHARACTERS);
}

/** @throws for a vector that can't be compared with others. */
function normalise(given: Float32Array | number[]): Float32Array {
  const vector = Float32Array.from(given);
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (vector.length === 0 || !Number.isFinite(sum)) {
    throw new Error("the embedder gave a vector that is empty or holds something else than finite numbers");
  }
  const length = Math.sqrt(sum) || 1;
  return vector.map((value) => value / length);
}

function compare({ dimensions, data }: Vectors, query: Float32Array): Float32Array {
  const similarities = new Float32Array(dimensions === 0 ? 0 : data.length / dimensions);
  for (let document = 0; document < similarities.length; document++) {
    let sum = 0;
    const start = document * dimensions;
    for (let at = 0; at < dimensions; at++) sum += (data[start + at] ?? 0) * (query[at] ?? 0);
    similarities[document] = sum;
  }
  return similarities;
}
