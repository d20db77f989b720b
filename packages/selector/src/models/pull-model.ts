import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";
import { createTransformersEmbedder } from "../semantic/transformers-embedder.ts";
import { HubFetch, unreachable, type PullProgress } from "./hub-fetch.ts";
import { formatLock, MODEL_LOCK_FILE, type ModelLock } from "./model-lock.ts";
import { folderNameOf, parseModelName } from "./model-name.ts";
import { DEFAULT_MODEL, findPinned } from "./pinned-models.ts";
import { StagingCache } from "./staging-cache.ts";
import { importTransformers, TRANSFORMERS } from "./transformers-library.ts";

/** Settings of {@link pullModel}. */
export interface PullModelSettings {
  /**
   * The model on the hub: `owner/name`, or `owner/name@revision`.
   *
   * @defaultValue {@link DEFAULT_MODEL}, with the revision and the digests that this package knows
   */
  model?: string | undefined;
  /** Folder of the pulled models. It is made where it does not exist. */
  modelsDir: string;
  /**
   * URL of a mirror that has the hub's paths: `https://hub.example`.
   *
   * @defaultValue `https://huggingface.co`
   */
  mirror?: string | undefined;
  onProgress?: ((progress: PullProgress) => void) | undefined;
  signal?: AbortSignal | undefined;
  /**
   * Module specifier of the library.
   *
   * @defaultValue `@huggingface/transformers`
   */
  library?: string | undefined;
}

/** A model in the cache. */
export interface PulledModel {
  /** Folder of the model's files. */
  folder: string;
  lock: ModelLock;
}

const HUB = "https://huggingface.co";
/** Precisions, the preferred one first, and the file of each. */
const WEIGHTS = [
  ["q8", "onnx/model_quantized.onnx"],
  ["fp32", "onnx/model.onnx"],
] as const;
const COMMIT = /^[0-9a-f]{40}$/u;
const UNFINISHED = ".pulling-";
/** The age from which a folder of a pull that was killed is removed. */
const UNFINISHED_AGE_MS = 24 * 60 * 60_000;
const ERRORS_ONLY = 40;

/** The part of the library that is used. */
interface Library {
  env: Record<string, unknown>;
  AutoTokenizer: { from_pretrained(model: string, options: object): Promise<unknown> };
  AutoModel: { from_pretrained(model: string, options: object): Promise<{ dispose(): Promise<unknown> }> };
}

/**
 * Pulls a sentence-embedding model into the cache, with the library's own code for its hub. A model that is there already
 * is replaced when the new one is complete and has computed a vector; whatever goes wrong before leaves it as it was.
 *
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND`, `EMBEDDER_MODEL_CHANGED` for a file whose digest is not the known one,
 * `EMBEDDER_PULL_FAILED` when the server or the disk fails, `EMBEDDER_FAILED` when the library or the model can't be used;
 * and the reason of an aborted `signal`.
 */
export async function pullModel(settings: PullModelSettings): Promise<PulledModel> {
  const { model = DEFAULT_MODEL, modelsDir, library = TRANSFORMERS, signal } = settings;
  const folder = path.join(modelsDir, folderNameOf(model));
  const source = (settings.mirror ?? HUB).replace(/(?<!\/)\/+$/u, "");
  signal?.throwIfAborted();
  const transformers = await importTransformers<Library>(library);
  const { revision, dtype } = await findWeights(model, source, signal);
  const staging = await makeStaging(modelsDir);
  try {
    const pulled = path.join(staging, "model");
    const files = await download(transformers, { ...settings, model, source, revision, dtype, pulled });
    const lock: ModelLock = { model, revision, source, dtype, pooling: "mean", files };
    await writeFile(path.join(pulled, MODEL_LOCK_FILE), formatLock(lock));
    await tryModel({ folder: pulled, lock }, library, signal);
    await replaceFolder(folder, pulled, staging);
    return { folder, lock };
  } catch (error) {
    signal?.throwIfAborted();
    throw asPullFailure(error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Finds which weights a model has, and the commit of its revision where the server tells it. */
async function findWeights(model: string, source: string, signal: AbortSignal | undefined) {
  const { name, revision: asked } = parseModelName(model);
  const revision = findPinned(name, asked)?.revision ?? asked ?? "main";
  for (const [dtype, file] of WEIGHTS) {
    const url = `${source}/${name}/resolve/${encodeURIComponent(revision)}/${file}`;
    const response = await head(url, signal);
    const commit = response.headers.get("x-repo-commit") ?? "";
    // A server that does not answer HEAD tells nothing. Whatever else is wrong, the download says.
    if (response.status !== 404) return { dtype, revision: COMMIT.test(commit) ? commit : revision };
  }
  return { dtype: WEIGHTS[0][0], revision };
}

async function head(url: string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    // The commit stands in the answer of the hub itself, not of where it leads to.
    return await fetch(url, { method: "HEAD", redirect: "manual", signal: signal ?? null });
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(url, error);
  }
}

async function makeStaging(modelsDir: string): Promise<string> {
  try {
    await mkdir(modelsDir, { recursive: true });
    await removeUnfinished(modelsDir);
    return await mkdtemp(path.join(modelsDir, UNFINISHED));
  } catch (error) {
    throw asPullFailure(error);
  }
}

/** Removes what pulls left that were killed. */
async function removeUnfinished(modelsDir: string): Promise<void> {
  for (const name of await readdir(modelsDir)) {
    const folder = path.join(modelsDir, name);
    const found = name.startsWith(UNFINISHED) ? await stat(folder).catch(() => undefined) : undefined;
    if (found !== undefined && Date.now() - found.mtimeMs > UNFINISHED_AGE_MS) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

interface Download extends PullModelSettings {
  model: string;
  source: string;
  revision: string;
  dtype: ModelLock["dtype"];
  /** Folder for the files. */
  pulled: string;
}

/** Downloads the files of a model, and loads it once. The library's settings are as before afterwards. */
async function download(
  { env, AutoTokenizer, AutoModel }: Library,
  { model, source, revision, dtype, pulled, onProgress, signal }: Download,
): Promise<ModelLock["files"]> {
  const { name, revision: asked } = parseModelName(model);
  const base = `${source}/${name}/resolve/${encodeURIComponent(revision)}/`;
  const hub = new HubFetch({ base, model, pinned: findPinned(name, asked), onProgress, signal });
  const cache = new StagingCache(pulled, base);
  const settings = {
    fetch: hub.fetch,
    remoteHost: `${source}/`,
    remotePathTemplate: "{model}/resolve/{revision}/",
    allowRemoteModels: true,
    allowLocalModels: false,
    useCustomCache: true,
    customCache: cache,
    logLevel: ERRORS_ONLY,
  };
  const before = Object.fromEntries(Object.keys(settings).map((key) => [key, env[key]]));
  Object.assign(env, settings);
  try {
    const options = { revision, dtype };
    await AutoTokenizer.from_pretrained(name, options);
    const loaded = await AutoModel.from_pretrained(name, options);
    await loaded.dispose();
  } catch (error) {
    throw hub.failure ?? cache.failure ?? modelUnusable(model, error);
  } finally {
    Object.assign(env, before);
    await cache.close();
  }
  if (cache.failure !== undefined) throw asPullFailure(cache.failure);
  return hub.files;
}

/** Computes a vector, as a search will. */
async function tryModel(
  { folder, lock }: PulledModel,
  library: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const embedder = createTransformersEmbedder({ modelDir: folder, lock, library });
  try {
    await embedder.embed(["Get the weather of a city."], { kind: "document", signal });
  } finally {
    await embedder.dispose?.();
  }
}

async function replaceFolder(folder: string, pulled: string, staging: string): Promise<void> {
  const old = path.join(staging, ".replaced");
  await rename(folder, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(pulled, folder);
}

function modelUnusable(model: string, error: unknown): CemError {
  const reason = error instanceof Error ? error.message : String(error);
  return new CemError("EMBEDDER_FAILED", `${model} can't be used as an embedding model: ${reason}`, {
    cause: error,
    details: { model },
  });
}

function asPullFailure(error: unknown): CemError {
  if (CemError.isInstance(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new CemError("EMBEDDER_PULL_FAILED", `The model can't be kept: ${reason}`, { cause: error });
}
