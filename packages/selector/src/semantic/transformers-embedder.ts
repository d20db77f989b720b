import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { CemError, moduleBeside } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Worker } from "node:worker_threads";
import type { Embedder, EmbedOptions } from "./semantic-search.ts";

/** The package that runs models: an optional peer. */
const TRANSFORMERS = "@huggingface/transformers";

/**
 * Imports the library from where this package stands, else from the working directory: a command that was started by `npx`
 * finds what the project has installed.
 *
 * @throws CemError `EMBEDDER_FAILED`
 */
export async function importTransformers<Library>(library: string): Promise<Library> {
  try {
    return (await import(library)) as Library;
  } catch (error) {
    try {
      return (await import(pathToFileURL(resolveFrom(workingDirectory(), library)).href)) as Library;
    } catch {
      throw notInstalled(library, error);
    }
  }
}

/**
 * Checks that the library is installed, without loading it.
 *
 * @throws CemError `EMBEDDER_FAILED` that says what to install.
 */
export function checkTransformers(library: string = TRANSFORMERS): void {
  const places = [import.meta.url, workingDirectory()];
  const found = places.some((place) => {
    try {
      return resolveFrom(place, library) !== "";
    } catch {
      return false;
    }
  });
  if (!found) throw notInstalled(library);
}

function workingDirectory(): string {
  return path.join(process.cwd(), "package.json");
}

function resolveFrom(place: string, library: string): string {
  return createRequire(place).resolve(library);
}

function notInstalled(library: string, cause?: unknown): CemError {
  const message = `The embedding model can't be used: ${library} can't be loaded. Install it: npm install ${library}`;
  return new CemError("EMBEDDER_FAILED", message, { cause });
}

/** The data that the worker is started with. */
export interface ModelSettings {
  modelDir: string;
  dtype: string;
  library: string;
}

/** A message to the worker. */
export interface EmbedRequest {
  id: number;
  texts: string[];
}

/** A message from the worker. */
export interface EmbedReply {
  id: number;
  dimensions: number;
  /** The vectors, concatenated. */
  data: Float32Array;
}

/** The message when the texts can't be embedded. */
export interface EmbedFailure {
  id: number;
  error: ErrorInfo;
}

/** Settings of {@link createTransformersEmbedder}. */
export interface TransformersEmbedderSettings {
  /** Folder of the model: `config.json`, `tokenizer.json` and `onnx/model.onnx`. Nothing is downloaded. */
  modelDir: string;
  /**
   * Module specifier of the library.
   *
   * @defaultValue `@huggingface/transformers`
   */
  library?: string | undefined;
}

/**
 * Creates an embedder that runs a model on disk with the optional peer `@huggingface/transformers`, in a worker thread.
 * The thread starts with the first text and does not keep the process alive.
 *
 * `embed` throws CemError `EMBEDDER_MODEL_NOT_FOUND` or `EMBEDDER_FAILED`.
 */
export function createTransformersEmbedder(settings: TransformersEmbedderSettings): Embedder {
  return new TransformersEmbedder(settings);
}

const QUANTIZED_WEIGHTS = "onnx/model_quantized.onnx";

const DISPOSED = "the embedder was disposed";

interface Waiting {
  resolve(reply: EmbedReply): void;
  reject(error: unknown): void;
}

class TransformersEmbedder implements Embedder {
  readonly specificationVersion = "v1";
  readonly id: string;
  readonly #model: ModelSettings;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #requests = 0;
  #isDisposed = false;

  constructor({ modelDir: folder, library = TRANSFORMERS }: TransformersEmbedderSettings) {
    const modelDir = path.resolve(folder);
    const dtype = existsSync(path.join(modelDir, QUANTIZED_WEIGHTS)) ? "q8" : "fp32";
    this.#model = { modelDir, dtype, library };
    this.id = JSON.stringify(["transformers", modelDir, dtype]);
  }

  async embed(texts: readonly string[], { signal }: EmbedOptions): Promise<Float32Array[]> {
    signal?.throwIfAborted();
    if (texts.length === 0) return [];
    await this.#checkModel();
    const reply = await this.#ask([...texts], signal);
    const size = reply.dimensions;
    return texts.map((_, at) => reply.data.subarray(at * size, (at + 1) * size));
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#failAll(failure(DISPOSED));
  }

  async #checkModel(): Promise<void> {
    const { modelDir } = this.#model;
    const file = path.join(modelDir, "config.json");
    const found = await stat(file).catch(() => undefined);
    if (found?.isFile() !== true) {
      throw new CemError(
        "EMBEDDER_MODEL_NOT_FOUND",
        `There is no embedding model in ${modelDir}: ${file} is missing. Put a sentence-embedding model in ONNX form there (config.json, tokenizer.json, onnx/model.onnx).`,
        { details: { modelDir } },
      );
    }
  }

  async #ask(texts: string[], signal: AbortSignal | undefined): Promise<EmbedReply> {
    const threads = await import("node:worker_threads");
    if (this.#isDisposed) throw failure(DISPOSED);
    const worker = this.#start(threads.Worker);
    const id = (this.#requests += 1);
    const { promise, resolve, reject } = Promise.withResolvers<EmbedReply>();
    const stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
    this.#waiting.set(id, { resolve, reject });
    worker.ref();
    worker.postMessage({ id, texts } satisfies EmbedRequest, []);
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) worker.unref();
    }
  }

  #start(Thread: typeof Worker): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const module = moduleBeside("transformers-worker", import.meta.url);
    const worker = new Thread(module, { workerData: this.#model });
    worker.on("message", (reply: EmbedReply | EmbedFailure) => {
      const waiting = this.#waiting.get(reply.id);
      if ("error" in reply) waiting?.reject(asError(reply.error));
      else waiting?.resolve(reply);
    });
    const stopped = (reason: unknown) => {
      if (this.#worker === worker) this.#worker = undefined;
      this.#failAll(reason);
    };
    worker.on("error", (error) => stopped(failure(String(error), error)));
    worker.on("exit", (code) => stopped(failure(`its worker thread ended with code ${code}`)));
    this.#worker = worker;
    return worker;
  }

  #failAll(error: unknown): void {
    for (const waiting of this.#waiting.values()) waiting.reject(error);
  }
}

/** The error of the worker, which has its code unless the library threw it. */
function asError({ code, message, details }: ErrorInfo): CemError {
  return code.startsWith("EMBEDDER_") ? new CemError(code, message, { details }) : failure(message);
}

function failure(reason: string, cause?: unknown): CemError {
  return new CemError("EMBEDDER_FAILED", `The embedding model can't be used: ${reason}`, { cause });
}
