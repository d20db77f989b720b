import { CemError } from "@cem/core";
import { importFromProject } from "@cem/core/files";
import type * as openaiModule from "openai";
import type { Embedder } from "./semantic-search.ts";

/** Settings of {@link createOpenAiEmbedder}. */
export interface OpenAiEmbedderSettings {
  /** Name of the model, or on Azure of the deployment: `text-embedding-3-small`. */
  model: string;
  /**
   * API key.
   *
   * @defaultValue the environment variable `OPENAI_API_KEY`, or on Azure `AZURE_OPENAI_API_KEY`
   */
  apiKey?: string | undefined;
  /**
   * URL of an OpenAI-compatible service.
   *
   * @defaultValue OpenAI's own, or the environment variable `OPENAI_BASE_URL`
   */
  baseUrl?: string | undefined;
  /** The Azure OpenAI resource to use instead. `apiVersion` defaults to `2024-10-21`. */
  azure?: { endpoint: string; apiVersion?: string | undefined } | undefined;
  /**
   * Timeout of one request, in milliseconds.
   *
   * @defaultValue {@link DEFAULT_EMBEDDING_TIMEOUT_MS}
   */
  timeoutMs?: number | undefined;
}

/** The default timeout of one request, in milliseconds. */
export const DEFAULT_EMBEDDING_TIMEOUT_MS = 30_000;
const DEFAULT_AZURE_API_VERSION = "2024-10-21";
/** Texts per request. The API accepts 2,048, and 300,000 tokens in total. */
const BATCH_TEXTS = 256;
const MAX_RETRIES = 3;

/**
 * Creates an embedder for OpenAI, Azure OpenAI or any service with the same API. Requires the optional peer `openai`. The
 * texts of tools and queries are sent to the service.
 *
 * `embed` throws CemError `EMBEDDER_FAILED`.
 */
export function createOpenAiEmbedder(settings: OpenAiEmbedderSettings): Embedder {
  const { model, azure, baseUrl } = settings;
  const service = azure?.endpoint ?? baseUrl ?? "openai";
  let client: ReturnType<typeof connect> | undefined;
  return {
    specificationVersion: "v1",
    id: JSON.stringify(["openai", service, model]),

    async embed(texts, { signal }) {
      signal?.throwIfAborted();
      const vectors: Float32Array[] = [];
      try {
        const { embeddings } = await (client ??= connect(settings));
        for (let at = 0; at < texts.length; at += BATCH_TEXTS) {
          const input = texts.slice(at, at + BATCH_TEXTS);
          const { data } = await embeddings.create({ model, input }, { signal });
          vectors.push(...inOrder(data, input.length));
        }
      } catch (error) {
        client = undefined;
        signal?.throwIfAborted();
        if (CemError.isInstance(error)) throw error;
        const reason = error instanceof Error ? error.message : String(error);
        throw new CemError("EMBEDDER_FAILED", `No embeddings from ${service}: ${reason}`, { cause: error });
      }
      return vectors;
    },
  };
}

async function connect(settings: OpenAiEmbedderSettings) {
  const { apiKey, baseUrl, azure, model, timeoutMs = DEFAULT_EMBEDDING_TIMEOUT_MS } = settings;
  const { AzureOpenAI, OpenAI } = await import("openai").catch((cause: unknown) =>
    importFromProject<typeof openaiModule>("openai", cause, () => {
      const message = "The package openai can't be loaded. Install it: npm install openai@7";
      return new CemError("EMBEDDER_FAILED", message, { cause });
    }),
  );
  // The client reads its environment variables for options that are undefined.
  const common = { timeout: timeoutMs, maxRetries: MAX_RETRIES, apiKey };
  if (azure !== undefined) {
    const { endpoint, apiVersion = DEFAULT_AZURE_API_VERSION } = azure;
    return new AzureOpenAI({ ...common, endpoint, apiVersion, deployment: model });
  }
  return new OpenAI({ ...common, baseURL: baseUrl });
}

/** Validates an answer: it must have a vector of finite numbers for each text, all of the same length. */
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
