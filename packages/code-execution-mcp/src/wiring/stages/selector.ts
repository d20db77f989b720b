import { stat } from "node:fs/promises";
import path from "node:path";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type * as SelectorPackage from "@cem/selector";
import type { Embedder, PulledModel, Selector } from "@cem/selector";
import { offloadSelection } from "../../work-threads/offloaded-selector.ts";
import { modelsFolder } from "../places.ts";

/** How a configuration searches for tools. */
export interface SearchReport {
  /** The model that compares by meaning, for people to read. Absent: tools are searched by words alone. */
  embedder?: string | undefined;
  /** The name of the pulled model that is used. */
  model?: string | undefined;
  /** Why the model can't be used, and what helps. */
  problem?: string | undefined;
}

/** The value of `optimizations.embedding_model` for no model. */
const NO_MODEL = "none";
/** How long the only request of a process waits for the vectors of its catalog. */
const ONE_RUN_PATIENCE_MS = 10_000;

/** Length of the prefix by which a commit is shown. */
const SHOWN_REVISION_CHARACTERS = 12;

type Selectors = typeof SelectorPackage;

/**
 * The selector that the configuration asks for.
 *
 * @param oneRun - Whether it is for one request, which then waits for vectors: there is no next one that could have them.
 */
export async function createConfiguredSelector(config: Config, oneRun = false): Promise<Selector> {
  const selectors = await import("@cem/selector");
  const { enabled, toolCache, searchCacheDir } = config.optimizations;
  const cacheDir = enabled && toolCache ? searchCacheDir : undefined;
  const patienceMs = oneRun ? ONE_RUN_PATIENCE_MS : 0;
  const chosen = { ...(await createEmbedder(config, selectors)), cacheDir, patienceMs };
  return offloadSelection(selectors.createSelector(chosen), {
    cacheDir,
    lexicalReason: chosen.lexicalReason,
  });
}

export async function inspectSearch(config: Config): Promise<SearchReport> {
  const { optimizations, llm } = config;
  const { embeddingModelDir } = optimizations;
  if (embeddingModelDir !== undefined) {
    const file = path.join(embeddingModelDir, "config.json");
    const found = await stat(file).catch(() => undefined);
    const problem = `${file} is missing: put a sentence-embedding model in ONNX form there`;
    return { embedder: embeddingModelDir, problem: found?.isFile() === true ? undefined : problem };
  }
  const selectors = await import("@cem/selector");
  const { model, pulled, problem } = await findPulled(config, selectors);
  if (pulled !== undefined) {
    const problem = await problemOf(pulled, selectors);
    const revision = pulled.lock.revision.slice(0, SHOWN_REVISION_CHARACTERS);
    return { embedder: `${model} at ${revision}`, model, problem };
  }
  if (problem !== undefined) return { embedder: model, problem };
  if (llm.azureEmbedderName !== undefined) {
    const embedder = `${llm.azureEmbedderName} on Azure`;
    return llm.azureEndpoint === undefined
      ? { embedder, problem: "llm.azure_endpoint is not set: set it or AZURE_OPENAI_ENDPOINT" }
      : { embedder };
  }
  return llm.embeddingModel === undefined ? {} : { embedder: llm.embeddingModel };
}

/** The folder of pulled models that the configuration says. */
export function modelsDirOf({ optimizations }: Config): string {
  return optimizations.modelCacheDir ?? modelsFolder();
}

/** The pulled model that the configuration names. */
export function namedModelOf({ optimizations }: Config): string | undefined {
  return optimizations.embeddingModel === NO_MODEL ? undefined : optimizations.embeddingModel;
}

interface Found {
  model: string;
  pulled?: PulledModel | undefined;
  /** Why a model that is named can't be used. */
  problem?: string | undefined;
}

/** The pulled model that the configuration names; without a name the default one, when no service is named either. */
async function findPulled(config: Config, { DEFAULT_MODEL, findModel }: Selectors): Promise<Found> {
  const { optimizations, llm } = config;
  const named = optimizations.embeddingModel;
  const model = named ?? DEFAULT_MODEL;
  const hasService = llm.azureEmbedderName !== undefined || llm.embeddingModel !== undefined;
  if (model === NO_MODEL || (named === undefined && hasService)) return { model };
  try {
    const pulled = await findModel(modelsDirOf(config), model);
    const isMissing = pulled === undefined && named !== undefined;
    return {
      model,
      pulled,
      problem: isMissing ? `${model} is not pulled: cem model pull ${model}` : undefined,
    };
  } catch (error) {
    return { model, problem: messageOf(error) };
  }
}

/** Why a pulled model can't be used. */
async function problemOf(
  { folder, lock }: PulledModel,
  { checkModelFiles, checkTransformers }: Selectors,
): Promise<string | undefined> {
  try {
    await checkModelFiles(folder, lock);
    checkTransformers();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

function messageOf(error: unknown): string {
  if (!CemError.isInstance(error)) return String(error);
  const help = error.code === "EMBEDDER_MODEL_CHANGED" ? " Pull it again: cem model pull" : "";
  return `${error.message}${help}`;
}

/** The embedding model that is named: one on disk before a service, Azure before others. */
async function createEmbedder(
  config: Config,
  selectors: Selectors,
): Promise<{ embedder?: Embedder | undefined; lexicalReason?: string | undefined }> {
  const { optimizations, llm } = config;
  const { createOpenAiEmbedder, createTransformersEmbedder } = selectors;
  if (optimizations.embeddingModelDir !== undefined) {
    return { embedder: createTransformersEmbedder({ modelDir: optimizations.embeddingModelDir }) };
  }
  const { pulled, problem } = await findPulled(config, selectors);
  if (problem !== undefined) return { lexicalReason: problem };
  if (pulled !== undefined) {
    return { embedder: createTransformersEmbedder({ modelDir: pulled.folder, lock: pulled.lock }) };
  }
  const apiKey = llm.apiKey?.reveal();
  const { azureEmbedderName, azureEmbedderVersion, azureEndpoint, embeddingModel, baseUrl } = llm;
  if (azureEmbedderName !== undefined && azureEndpoint !== undefined) {
    const azure = { endpoint: azureEndpoint, apiVersion: azureEmbedderVersion };
    return { embedder: createOpenAiEmbedder({ model: azureEmbedderName, azure, apiKey }) };
  }
  if (embeddingModel === undefined) return {};
  return { embedder: createOpenAiEmbedder({ model: embeddingModel, apiKey, baseUrl }) };
}
