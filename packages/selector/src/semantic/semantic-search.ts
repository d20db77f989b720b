import { abandonOnAbort } from "@cem/core";
import type { ToolDefinition } from "@cem/core";
import { splitWords } from "@cem/core/text";
import type { LexicalIndex } from "../catalog/lexical-index.ts";
import { VectorCache } from "./vector-cache.ts";

/** An embedding model. Bring your own, or use one of this package. */
export interface Embedder {
  readonly specificationVersion: "v1";
  /** Identifies the model and everything that changes its vectors. Vectors are cached by it and never mixed. */
  readonly id: string;
  /** Computes a vector for each text, in order and all of the same length. They need not be normalised. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<(Float32Array | number[])[]>;
  /** Frees the resources of the embedder, which is not used afterwards. */
  dispose?(): Promise<void>;
}

/** Options of {@link Embedder.embed}. */
export interface EmbedOptions {
  /** Whether the texts are queries or what is searched: some models treat them differently. */
  kind: "query" | "document";
  signal?: AbortSignal | undefined;
}

/**
 * The state of semantic search: `off` without an embedder, `idle` before the first catalog, `computing` while `done` of
 * `total` tools are embedded, `ready`, or `failed`; a failed embedder is tried again after a minute.
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

/** Settings of {@link SemanticSearch}. */
interface SemanticSettings {
  /** Folder for vectors, for the next process. */
  cacheDir: string | undefined;
  /** How long a query waits for the vectors of its catalog, and for its own if that is longer than usual. */
  patienceMs: number;
}

interface Vectors {
  dimensions: number;
  /** Unit vectors, one after another in the order of the index. */
  data: Float32Array;
}

/** Compares queries with tools by their vectors. The vectors of tools are computed in the background. */
export class SemanticSearch {
  readonly #embedder: Embedder;
  readonly #patienceMs: number;
  readonly #cache: VectorCache;
  readonly #catalogs = new Map<LexicalIndex, Vectors>();
  readonly #queries = new Map<string, Float32Array>();
  readonly #stop = new AbortController();
  #state: SemanticState = { state: "idle" };
  #failedAt = -Infinity;
  #work: Promise<void> | undefined;

  constructor(embedder: Embedder, { cacheDir, patienceMs }: SemanticSettings) {
    this.#embedder = embedder;
    this.#patienceMs = patienceMs;
    this.#cache = new VectorCache(embedder.id, cacheDir);
  }

  get state(): SemanticState {
    return this.#state;
  }

  /**
   * Computes the cosine similarity of each tool to a text, −1 to 1.
   *
   * @returns Similarities by document; `undefined` while the vectors of the catalog are not ready, whose computation it
   * starts, and when the embedder fails or is too slow.
   */
  async similarities(
    index: LexicalIndex,
    text: string,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array | undefined> {
    const vectors = this.#catalogs.get(index) ?? (await this.#awaitVectors(index, signal));
    if (vectors === undefined || this.#isBackingOff()) return undefined;
    const query = await this.#embedQuery(text.slice(0, MAX_QUERY_CHARACTERS), vectors.dimensions, signal);
    return query && compare(vectors, query);
  }

  /** Computes the vectors of a catalog. Resolves when they are ready or have failed. */
  prepare(index: LexicalIndex): Promise<void> {
    if (this.#catalogs.has(index) || this.#isBackingOff()) return Promise.resolve();
    const before = this.#work ?? Promise.resolve();
    this.#work = before.then(() => this.#computeOnce(index));
    return this.#work;
  }

  /** Starts the computation of a catalog's vectors, and waits for it as long as the settings say. */
  async #awaitVectors(index: LexicalIndex, signal: AbortSignal | undefined): Promise<Vectors | undefined> {
    const prepared = this.prepare(index);
    if (this.#patienceMs > 0) {
      const { promise: over, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, this.#patienceMs);
      signal?.addEventListener("abort", () => resolve(), { once: true });
      await Promise.race([prepared, over]);
      clearTimeout(timer);
      signal?.throwIfAborted();
    }
    return this.#catalogs.get(index);
  }

  async dispose(): Promise<void> {
    this.#stop.abort();
    await this.#work;
    await this.#embedder.dispose?.();
  }

  /** Whether the embedder failed recently. */
  #isBackingOff(): boolean {
    return performance.now() - this.#failedAt < RETRY_AFTER_MS;
  }

  async #computeOnce(index: LexicalIndex): Promise<void> {
    if (this.#catalogs.has(index) || this.#isBackingOff() || this.#stop.signal.aborted) return;
    try {
      const vectors = await this.#compute(index.tools.map(textOf));
      this.#catalogs.set(index, vectors);
      const [oldest] = this.#catalogs.keys();
      if (this.#catalogs.size > MAX_CATALOGS && oldest !== undefined) this.#catalogs.delete(oldest);
      this.#state = { state: "ready" };
    } catch (error) {
      this.#fail(error);
    }
  }

  async #compute(texts: readonly string[]): Promise<Vectors> {
    const known = await this.#cache.get(texts);
    const missing = [...new Set(texts.filter((_, at) => known[at] === undefined))];
    for (let at = 0; at < missing.length; at += BATCH_TEXTS) {
      this.#state = { state: "computing", done: at, total: missing.length };
      const batch = missing.slice(at, at + BATCH_TEXTS);
      const vectors = await this.#embed(batch, "document", this.#stop.signal);
      await this.#cache.add(
        batch,
        vectors.map((vector) => normalise(vector)),
      );
    }
    const all = await this.#cache.get(texts);
    const dimensions = all[0]?.length ?? 0;
    const data = new Float32Array(texts.length * dimensions);
    for (const [at, vector] of all.entries()) {
      if (vector?.length !== dimensions) {
        throw new Error(UNALIKE);
      }
      data.set(vector, at * dimensions);
    }
    return { dimensions, data };
  }

  async #embedQuery(
    text: string,
    dimensions: number,
    signal: AbortSignal | undefined,
  ): Promise<Float32Array | undefined> {
    const known = this.#queries.get(text);
    if (known !== undefined) return known;
    const deadline = AbortSignal.timeout(Math.max(QUERY_TIMEOUT_MS, this.#patienceMs));
    try {
      const signals = [deadline, this.#stop.signal, signal].filter((one) => one !== undefined);
      const [vector = []] = await this.#embed([text], "query", AbortSignal.any(signals));
      const query = normalise(vector);
      if (query.length !== dimensions) throw new Error(UNALIKE);
      if (this.#queries.size >= MAX_REMEMBERED_QUERIES) this.#queries.clear();
      this.#queries.set(text, query);
      return query;
    } catch (error) {
      signal?.throwIfAborted();
      if (!deadline.aborted) this.#fail(error);
      return undefined;
    }
  }

  /** Asks the embedder, and waits no longer than the signal lets it. */
  #embed(
    texts: readonly string[],
    kind: EmbedOptions["kind"],
    signal: AbortSignal,
  ): ReturnType<Embedder["embed"]> {
    const ask = async (): ReturnType<Embedder["embed"]> => this.#embedder.embed(texts, { kind, signal });
    return abandonOnAbort(ask(), signal);
  }

  #fail(error: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#failedAt = performance.now();
    this.#state = { state: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}

/** The text that represents a tool in its embedding. */
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
