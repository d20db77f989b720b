import { stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import {
  createOpenAiEmbedder,
  createSelector,
  createTransformersEmbedder,
  type Embedder,
  type Selector,
} from "@cem/selector";

/** How tools are searched for with a configuration. */
export interface SearchReport {
  /** What compares by meaning, in words; absent when only words are compared. */
  embedder?: string | undefined;
  /** Why it can't, and the way out. */
  problem?: string | undefined;
}

/** The selector that the configuration asks for. */
export function createConfiguredSelector(config: Config): Selector {
  const { enabled, toolCache, searchCacheDir } = config.optimizations;
  const embedder = createEmbedder(config);
  return createSelector({
    ...(embedder !== undefined && { embedder }),
    ...(enabled && toolCache && { cacheDir: searchCacheDir }),
  });
}

export async function inspectSearch({ optimizations, llm }: Config): Promise<SearchReport> {
  const { embeddingModelDir } = optimizations;
  if (embeddingModelDir !== undefined) {
    const file = path.join(embeddingModelDir, "config.json");
    const found = await stat(file).catch(() => undefined);
    const problem = `${file} is missing: put a sentence-embedding model in ONNX form there`;
    return { embedder: embeddingModelDir, ...(found?.isFile() !== true && { problem }) };
  }
  if (llm.azureEmbedderName !== undefined) {
    const embedder = `${llm.azureEmbedderName} on Azure`;
    return llm.azureEndpoint === undefined
      ? { embedder, problem: "llm.azure_endpoint is not set: set it or AZURE_OPENAI_ENDPOINT" }
      : { embedder };
  }
  return llm.embeddingModel === undefined ? {} : { embedder: llm.embeddingModel };
}

/** A model on disk before a service, Azure before others; none unless one is named. */
function createEmbedder({ optimizations, llm }: Config): Embedder | undefined {
  if (optimizations.embeddingModelDir !== undefined) {
    return createTransformersEmbedder({ modelDir: optimizations.embeddingModelDir });
  }
  const apiKey = llm.apiKey?.reveal();
  const key = apiKey === undefined ? {} : { apiKey };
  const { azureEmbedderName, azureEmbedderVersion, azureEndpoint, embeddingModel, baseUrl } = llm;
  if (azureEmbedderName !== undefined && azureEndpoint !== undefined) {
    const version = azureEmbedderVersion === undefined ? {} : { apiVersion: azureEmbedderVersion };
    const azure = { endpoint: azureEndpoint, ...version };
    return createOpenAiEmbedder({ model: azureEmbedderName, azure, ...key });
  }
  if (embeddingModel === undefined) return undefined;
  return createOpenAiEmbedder({
    model: embeddingModel,
    ...key,
    ...(baseUrl !== undefined && { baseUrl }),
  });
}
