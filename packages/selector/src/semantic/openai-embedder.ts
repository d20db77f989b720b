import { CemError } from "@cem/core";
import type { Embedder, EmbedOptions } from "./embedder.ts";

export interface OpenAiEmbedderSettings {
  /** The model, or on Azure the deployment: `text-embedding-3-small`. */
  model: string;
  /** Default: `OPENAI_API_KEY`, or on Azure `AZURE_OPENAI_API_KEY`. */
  apiKey?: string | undefined;
  /** URL of an OpenAI-compatible service. Default: OpenAI's own. */
  baseUrl?: string | undefined;
  /** Set for Azure OpenAI. */
  azure?: { endpoint: string; apiVersion?: string | undefined } | undefined;
  /** Shorter vectors, where the model can give them. */
  dimensions?: number | undefined;
  /** Time for one request, in milliseconds. Default: {@link DEFAULT_EMBEDDING_TIMEOUT_MS}. */
  timeoutMs?: number | undefined;
}

export const DEFAULT_EMBEDDING_TIMEOUT_MS = 30_000;
const DEFAULT_AZURE_API_VERSION = "2024-10-21";
/** Texts of one request. The API takes 2,048, and 300,000 tokens in all. */
const BATCH_TEXTS = 256;
const MAX_RETRIES = 3;

/** The part of the client that is used. */
interface Client {
  embeddings: {
    create(
      body: { model: string; input: string[]; dimensions?: number },
      options: { signal?: AbortSignal },
    ): PromiseLike<{ data: { index: number; embedding: number[] }[] }>;
  };
}

/**
 * An embedder that asks OpenAI, Azure OpenAI or any service with the same API, by the `openai` package, which has to
 * be installed. The texts of the tools and what is searched for leave this machine.
 *
 * @throws CemError from `embed`: `EMBEDDER_FAILED`.
 */
export function createOpenAiEmbedder(settings: OpenAiEmbedderSettings): Embedder {
  const { model, dimensions, azure, baseUrl } = settings;
  const place = azure?.endpoint ?? baseUrl ?? "openai";
  let client: Promise<Client> | undefined;
  return {
    specificationVersion: "v1",
    id: JSON.stringify(["openai", place, model, dimensions ?? null]),

    async embed(texts: readonly string[], { signal }: EmbedOptions): Promise<Float32Array[]> {
      signal?.throwIfAborted();
      const vectors: Float32Array[] = [];
      try {
        const { embeddings } = await (client ??= connect(settings));
        for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
          const input = texts.slice(at, at + BATCH_TEXTS);
          const body = { model, input, ...(dimensions !== undefined && { dimensions }) };
          const { data } = await embeddings.create(body, signal === undefined ? {} : { signal });
          vectors.push(...inOrder(data, input.length));
        }
      } catch (error) {
        client = undefined;
        signal?.throwIfAborted();
        throw asFailure(error, place);
      }
      return vectors;
    },
  };
}

async function connect(settings: OpenAiEmbedderSettings): Promise<Client> {
  const { apiKey, baseUrl, azure, model, timeoutMs = DEFAULT_EMBEDDING_TIMEOUT_MS } = settings;
  const { AzureOpenAI, OpenAI } = await import("openai").catch((cause: unknown) => {
    throw new CemError(
      "EMBEDDER_FAILED",
      "The openai package can't be loaded. Install it: npm install openai",
      { cause },
    );
  });
  const common = { timeout: timeoutMs, maxRetries: MAX_RETRIES, ...(apiKey !== undefined && { apiKey }) };
  if (azure !== undefined) {
    const { endpoint, apiVersion = DEFAULT_AZURE_API_VERSION } = azure;
    return new AzureOpenAI({ ...common, endpoint, apiVersion, deployment: model });
  }
  return new OpenAI({ ...common, ...(baseUrl !== undefined && { baseURL: baseUrl }) });
}

/** The answer is someone else's: every vector must be there once, all of one length, and of finite numbers. */
function inOrder(data: unknown, count: number): Float32Array[] {
  const vectors: Float32Array[] = [];
  for (const item of Array.isArray(data) ? data : []) {
    const { index, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (typeof index === "number" && Array.isArray(embedding)) vectors[index] = Float32Array.from(embedding);
  }
  const size = vectors[0]?.length ?? 0;
  const whole = Array.from({ length: count }, (_, at) => vectors[at]);
  if (size === 0 || whole.some((vector) => vector?.length !== size || !vector.every(Number.isFinite))) {
    throw new Error(`the answer does not hold ${count} vectors of one length`);
  }
  return whole.filter((vector) => vector !== undefined);
}

function asFailure(error: unknown, place: string): CemError {
  if (CemError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CemError("EMBEDDER_FAILED", `No embeddings from ${place}: ${reason}`, { cause: error });
}
