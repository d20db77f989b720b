import { stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import type { Embedder, Selector } from "@cem/selector";
import { problemOfPackage } from "../packages.ts";

/** How a configuration searches for tools. */
export interface SearchReport {
  /** The embedding model, for display. Absent: tools are searched by words alone. */
  embedder?: string | undefined;
  /** Why the model can't be used, with advice. */
  problem?: string | undefined;
}

/** How long the single request of a process waits for the vectors of its catalog. */
const ONE_RUN_PATIENCE_MS = 10_000;

/** @param oneRun - Whether it serves a single request, which then waits for vectors, since there is no later one to use them. */
export async function createConfiguredSelector(config: Config, oneRun = false): Promise<Selector> {
  const { createSelector } = await import("@cem/selector");
  const { enabled, toolCache, searchCacheDir } = config.optimizations;
  const cacheDir = enabled && toolCache ? searchCacheDir : undefined;
  const patienceMs = oneRun ? ONE_RUN_PATIENCE_MS : 0;
  return createSelector({ embedder: await createEmbedder(config), cacheDir, patienceMs });
}

export async function inspectSearch(config: Config): Promise<SearchReport> {
  const { optimizations, llm } = config;
  const { embeddingModelDir } = optimizations;
  if (embeddingModelDir !== undefined) {
    const file = path.join(embeddingModelDir, "config.json");
    const found = await stat(file).catch(() => undefined);
    const problem =
      found?.isFile() === true
        ? (await problemOfPackage("@huggingface/transformers"))?.message
        : `${file} is missing: put a sentence-embedding model in ONNX form there`;
    return { embedder: embeddingModelDir, problem };
  }
  if (llm.azureEmbedderName !== undefined) {
    const embedder = `${llm.azureEmbedderName} on Azure`;
    return llm.azureEndpoint === undefined
      ? { embedder, problem: "llm.azure_endpoint is not set: set it or AZURE_OPENAI_ENDPOINT" }
      : { embedder, problem: (await problemOfPackage("openai"))?.message };
  }
  if (llm.embeddingModel === undefined) return {};
  return { embedder: llm.embeddingModel, problem: (await problemOfPackage("openai"))?.message };
}

/** The configured embedding model: one on disk before a service, Azure before others. */
async function createEmbedder({ optimizations, llm }: Config): Promise<Embedder | undefined> {
  const { createOpenAiEmbedder, createTransformersEmbedder } = await import("@cem/selector");
  const { embeddingModelDir: modelDir } = optimizations;
  if (modelDir !== undefined) return createTransformersEmbedder({ modelDir });
  const apiKey = llm.apiKey?.reveal();
  const { azureEmbedderName, azureEmbedderVersion, azureEndpoint, embeddingModel, baseUrl } = llm;
  if (azureEmbedderName !== undefined && azureEndpoint !== undefined) {
    const azure = { endpoint: azureEndpoint, apiVersion: azureEmbedderVersion };
    return createOpenAiEmbedder({ model: azureEmbedderName, azure, apiKey });
  }
  return embeddingModel === undefined
    ? undefined
    : createOpenAiEmbedder({ model: embeddingModel, apiKey, baseUrl });
}
