import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { CemError } from "@cem/core";
import {
  DEFAULT_MODEL,
  findPinned,
  folderNameOf,
  formatLock,
  MODEL_LOCK_FILE,
  parseModelName,
} from "./model-lock.ts";
import type { LockedFile, ModelLock, PulledModel } from "./model-lock.ts";
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

/** A file that is being pulled. */
export interface PullProgress {
  /** Path in the model's repository: `onnx/model_quantized.onnx`. */
  file: string;
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole file; absent when the server does not say. */
  total?: number | undefined;
  /** Whether the file is complete, and its digest the known one where there is one. */
  done: boolean;
}

const HUB = "https://huggingface.co";
/** Precisions, the preferred one first, and the file of each. */
const WEIGHTS = [
  ["q8", "onnx/model_quantized.onnx"],
  ["fp32", "onnx/model.onnx"],
] as const;
/** The files that the library reads beside the weights. */
const SETTINGS_FILES = ["config.json", "tokenizer.json", "tokenizer_config.json"];
const COMMIT = /^[0-9a-f]{40}$/u;
const MAX_FILE_BYTES = 4 * 1024 ** 3;
const UNFINISHED = ".pulling-";
/** The age from which a folder of a pull that was killed is removed. */
const UNFINISHED_AGE_MS = 24 * 60 * 60_000;
const ERRORS_ONLY = 40;

/** The part of the library that is used. */
interface Transformers {
  env: { allowRemoteModels: boolean; allowLocalModels: boolean; logLevel: number };
  pipeline(task: "feature-extraction", model: string, options: { dtype: string }): Promise<Extractor>;
}

interface Extractor {
  (texts: string[], options: { pooling: string; normalize: boolean }): Promise<unknown>;
  dispose(): Promise<unknown>;
}

/**
 * Pulls a sentence-embedding model into the cache. A model that is there already is replaced when the new one is complete
 * and has computed a vector; any failure before leaves it as it was.
 *
 * @throws CemError `EMBEDDER_MODEL_NOT_FOUND`, `EMBEDDER_MODEL_CHANGED` for a file whose digest is not the known one,
 * `EMBEDDER_PULL_FAILED` when the server or the disk fails, `EMBEDDER_FAILED` when the library or the model can't be used;
 * and the reason of an aborted `signal`.
 */
export async function pullModel(settings: PullModelSettings): Promise<PulledModel> {
  const { model = DEFAULT_MODEL, modelsDir, library = TRANSFORMERS, signal } = settings;
  const folder = path.join(modelsDir, folderNameOf(model));
  signal?.throwIfAborted();
  const transformers = await importTransformers<Transformers>(library);
  const download = new Download(model, settings);
  const { revision, dtype, weights } = await download.findWeights();
  const staging = await makeStaging(modelsDir);
  try {
    const pulled = path.join(staging, "model");
    const files: Record<string, LockedFile> = {};
    for (const file of [...SETTINGS_FILES, weights]) {
      files[file] = await download.write(revision, file, path.join(pulled, file));
    }
    const lock: ModelLock = { model, revision, source: download.source, dtype, pooling: "mean", files };
    await writeFile(path.join(pulled, MODEL_LOCK_FILE), formatLock(lock));
    await tryModel(transformers, model, pulled, dtype);
    signal?.throwIfAborted();
    await replaceFolder(folder, pulled, staging);
    return { folder, lock };
  } catch (error) {
    signal?.throwIfAborted();
    throw asPullFailure(error);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** The files of one model on the hub. */
class Download {
  readonly source: string;
  readonly #model: string;
  readonly #settings: PullModelSettings;

  constructor(model: string, settings: PullModelSettings) {
    this.#model = model;
    this.#settings = settings;
    this.source = (settings.mirror ?? HUB).replace(/(?<!\/)\/+$/u, "");
  }

  /** Finds which weights the model has, and the commit of its revision where the server gives it. */
  async findWeights() {
    const { name, revision: asked } = parseModelName(this.#model);
    const revision = findPinned(name, asked)?.revision ?? asked ?? "main";
    for (const [dtype, weights] of WEIGHTS) {
      // The commit stands in the answer of the hub itself, not of the storage that it redirects to.
      const { status, headers } = await this.#fetch(revision, weights, {
        method: "HEAD",
        redirect: "manual",
      });
      const commit = headers.get("x-repo-commit") ?? "";
      // A server may not answer HEAD. Anything else that is wrong fails the download.
      if (status !== 404) return { dtype, weights, revision: COMMIT.test(commit) ? commit : revision };
    }
    return { dtype: WEIGHTS[0][0], weights: WEIGHTS[0][1], revision };
  }

  /** Writes one file to the disk. A file whose digest is not the known one fails. */
  async write(revision: string, file: string, to: string): Promise<LockedFile> {
    const { onProgress, signal } = this.#settings;
    const url = this.#urlOf(revision, file);
    const { ok, status, headers, body } = await this.#fetch(revision, file);
    if (!ok || body === null) throw refused(this.#model, url, status);
    const total = lengthOf(headers);
    const hash = createHash("sha256");
    let bytes = 0;
    const read = async function* (): AsyncGenerator<Uint8Array> {
      try {
        for await (const chunk of body) {
          signal?.throwIfAborted();
          bytes += chunk.length;
          if (bytes > MAX_FILE_BYTES) break;
          hash.update(chunk);
          yield chunk;
          onProgress?.({ file, loaded: bytes, total, done: false });
        }
      } catch (error) {
        throw unreachable(url, error);
      }
    };
    await mkdir(path.dirname(to), { recursive: true });
    await pipeline(read, createWriteStream(to));
    if (bytes > MAX_FILE_BYTES) throw tooLarge(this.#model, file);
    const sha256 = hash.digest("hex");
    const { name, revision: asked } = parseModelName(this.#model);
    const known = findPinned(name, asked)?.files[file];
    if (known !== undefined && known !== sha256) throw isAnother(this.#model, url, sha256, known);
    onProgress?.({ file, loaded: bytes, total: bytes, done: true });
    return { bytes, sha256 };
  }

  #urlOf(revision: string, file: string): string {
    const { name } = parseModelName(this.#model);
    return `${this.source}/${name}/resolve/${encodeURIComponent(revision)}/${file}`;
  }

  async #fetch(revision: string, file: string, init: RequestInit = {}): Promise<Response> {
    const { signal } = this.#settings;
    const url = this.#urlOf(revision, file);
    // Without encoding, lengths are those of the files themselves.
    const headers = new Headers({ "accept-encoding": "identity" });
    const token = process.env["HF_TOKEN"] ?? process.env["HF_ACCESS_TOKEN"];
    // The token is for the hub alone; `fetch` drops it where the hub redirects to another host.
    if (token !== undefined && this.source === HUB) headers.set("authorization", `Bearer ${token}`);
    try {
      return await fetch(url, { ...init, headers, signal: signal ?? null });
    } catch (error) {
      signal?.throwIfAborted();
      throw unreachable(url, error);
    }
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

/** Removes what killed pulls left. */
async function removeUnfinished(modelsDir: string): Promise<void> {
  for (const name of await readdir(modelsDir)) {
    const folder = path.join(modelsDir, name);
    const found = name.startsWith(UNFINISHED) ? await stat(folder).catch(() => undefined) : undefined;
    if (found !== undefined && Date.now() - found.mtimeMs > UNFINISHED_AGE_MS) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

/** Loads the model and computes a vector. In this thread: the library ends the process when a worker loads a broken model. */
async function tryModel(library: Transformers, model: string, folder: string, dtype: string): Promise<void> {
  const { env } = library;
  const { allowRemoteModels, allowLocalModels, logLevel } = env;
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, logLevel: ERRORS_ONLY });
  try {
    const extract = await library.pipeline("feature-extraction", folder, { dtype });
    await extract(["Get the weather of a city."], { pooling: "mean", normalize: true });
    await extract.dispose();
  } catch (error) {
    throw modelUnusable(model, error);
  } finally {
    Object.assign(env, { allowRemoteModels, allowLocalModels, logLevel });
  }
}

async function replaceFolder(folder: string, pulled: string, staging: string): Promise<void> {
  const old = path.join(staging, ".replaced");
  await rename(folder, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
  });
  await rename(pulled, folder);
}

function lengthOf(headers: Headers): number | undefined {
  const length = Number(headers.get("content-length") ?? Number.NaN);
  return Number.isSafeInteger(length) && length >= 0 ? length : undefined;
}

/** An error of `fetch`, whose cause has the reason. */
function unreachable(url: string, error: unknown): CemError {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return new CemError("EMBEDDER_PULL_FAILED", `${url} can't be reached: ${code ?? messageOf(error)}.`, {
    cause: error,
    details: { url },
  });
}

function refused(model: string, url: string, status: number): CemError {
  const details = { model, url, status };
  if (status === 404) {
    const message = `${url} does not exist, or not for you (404). A model that can be pulled has config.json, tokenizer.json and onnx/model_quantized.onnx or onnx/model.onnx.`;
    return new CemError("EMBEDDER_MODEL_NOT_FOUND", message, { details });
  }
  if (status === 401 || status === 403) {
    const message = `${url} is not for everybody, or does not exist (${status}). For a model that needs a sign-in on huggingface.co, set HF_TOKEN in the environment.`;
    return new CemError("EMBEDDER_MODEL_NOT_FOUND", message, { details });
  }
  return new CemError("EMBEDDER_PULL_FAILED", `${url} was answered with status ${status}.`, { details });
}

function isAnother(model: string, url: string, found: string, known: string): CemError {
  return new CemError(
    "EMBEDDER_MODEL_CHANGED",
    `${url} is not the file that is known for ${model}: its digest is ${found}, not ${known}. Nothing of it was kept.`,
    { details: { model, url } },
  );
}

function tooLarge(model: string, file: string): CemError {
  const message = `${file} of ${model} is larger than ${MAX_FILE_BYTES} bytes, the most that is pulled.`;
  return new CemError("EMBEDDER_PULL_FAILED", message, { details: { model, file } });
}

function modelUnusable(model: string, error: unknown): CemError {
  const message = `${model} can't be used as an embedding model: ${messageOf(error)}`;
  return new CemError("EMBEDDER_FAILED", message, { cause: error, details: { model } });
}

function asPullFailure(error: unknown): CemError {
  if (CemError.isInstance(error)) return error;
  return new CemError("EMBEDDER_PULL_FAILED", `The model can't be kept: ${messageOf(error)}`, {
    cause: error,
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
