import { stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import type * as SelectorPackage from "@cem/selector";
import type { Embedder, Selector } from "@cem/selector";

/** How a configuration searches for tools. */
export interface SearchReport {
  /** The model that compares by meaning, for people to read. Absent: tools are searched by words alone. */
  embedder?: string | undefined;
  /** Why the model can't be used, and what helps. */
  problem?: string | undefined;
}

/** The selector that the configuration asks for. */
export async function createConfiguredSelector(config: Config): Promise<Selector> {
  const selectors = await import("@cem/selector");
  const { enabled, toolCache, searchCacheDir } = config.optimizations;
  const cacheDir = enabled && toolCache ? searchCacheDir : undefined;
  return selectors.createSelector({ embedder: createEmbedder(config, selectors), cacheDir });
}

export async function inspectSearch({ optimizations, llm }: Config): Promise<SearchReport> {
  const { embeddingModelDir } = optimizations;
  if (embeddingModelDir !== undefined) {
    const file = path.join(embeddingModelDir, "config.json");
    const found = await stat(file).catch(() => undefined);
    const problem = `${file} is missing: put a sentence-embedding model in ONNX form there`;
    return { embedder: embeddingModelDir, problem: found?.isFile() === true ? undefined : problem };
  }
  if (llm.azureEmbedderName !== undefined) {
    const embedder = `${llm.azureEmbedderName} on Azure`;
    return llm.azureEndpoint === undefined
      ? { embedder, problem: "llm.azure_endpoint is not set: set it or AZURE_OPENAI_ENDPOINT" }
      : { embedder };
  }
  return llm.embeddingModel === undefined ? {} : { embedder: llm.embeddingModel };
}

/** The embedding model that is named: one on disk before a service, Azure before others. */
function createEmbedder(
  { optimizations, llm }: Config,
  { createOpenAiEmbedder, createTransformersEmbedder }: typeof SelectorPackage,
): Embedder | undefined {
  if (optimizations.embeddingModelDir !== undefined) {
    return createTransformersEmbedder({ modelDir: optimizations.embeddingModelDir });
  }
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
