import path from "node:path";
import { pathToFileURL } from "node:url";
import { abandonOnAbort, CemError, fromErrorInfo, moduleBeside, type ErrorInfo } from "@cem/core";
import { findBeside, findInProjects } from "@cem/core/files";
import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import type { Worker } from "node:worker_threads";
import type { Embedder } from "./semantic-search.ts";

/** The package that runs models: an optional peer. */
const TRANSFORMERS = "@huggingface/transformers";

/** Imports the library for the worker. @throws CemError `EMBEDDER_FAILED` */
export async function importTransformers<Library>({ library, file }: ModelSettings): Promise<Library> {
  try {
    return (await import(file === undefined ? library : pathToFileURL(file).href)) as Library;
  } catch (error) {
    throw failure(`${library} can't be loaded. Install it: npm install ${library}`, error);
  }
}

export interface ModelSettings {
  modelDir: string;
  dtype: string;
  library: string;
  /** Its module in a project, where none is installed beside this package. */
  file?: string | undefined;
}

export interface EmbedRequest {
  id: number;
  texts: string[];
}

/** The worker's answer: the vectors, concatenated; or why there are none. */
export type EmbedReply = { id: number } & (Embedded | { error: ErrorInfo });
export interface Embedded {
  dimensions: number;
  data: Float32Array;
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
export function createTransformersEmbedder({
  modelDir: folder,
  library = TRANSFORMERS,
}: TransformersEmbedderSettings): Embedder {
  const modelDir = path.resolve(folder);
  const dtype = existsSync(path.join(modelDir, QUANTIZED_WEIGHTS)) ? "q8" : "fp32";
  const model: ModelSettings = { modelDir, dtype, library };
  const waiting = new Map<number, PromiseWithResolvers<Embedded>>();
  let running: Worker | undefined;
  let requests = 0;
  let isDisposed = false;

  const failAll = (error: unknown): void => {
    for (const { reject } of waiting.values()) reject(error);
  };

  const start = (Thread: typeof Worker): Worker => {
    const worker = new Thread(moduleBeside("transformers-worker", import.meta.url), { workerData: model });
    worker.on("message", (reply: EmbedReply) => {
      const asked = waiting.get(reply.id);
      if (!("error" in reply)) return asked?.resolve(reply);
      const { error } = reply;
      // It has a code of ours unless the library threw it.
      asked?.reject(error.code.startsWith("EMBEDDER_") ? fromErrorInfo(error) : failure(error.message));
    });
    const stopped = (reason: unknown): void => {
      if (running === worker) running = undefined;
      failAll(reason);
    };
    worker.on("error", (error) => stopped(failure(String(error), error)));
    worker.on("exit", (code) => stopped(failure(`its worker thread ended with code ${code}`)));
    return worker;
  };

  const ask = async (texts: string[], signal: AbortSignal | undefined): Promise<Embedded> => {
    const threads = await import("node:worker_threads");
    if (running === undefined && findBeside(library, import.meta.url) === undefined)
      model.file = await findInProjects(library);
    if (isDisposed) throw failure(DISPOSED);
    const worker = (running ??= start(threads.Worker));
    const id = (requests += 1);
    const answer = Promise.withResolvers<Embedded>();
    waiting.set(id, answer);
    worker.ref();
    worker.postMessage({ id, texts } satisfies EmbedRequest, []);
    try {
      return await abandonOnAbort(answer.promise, signal);
    } finally {
      waiting.delete(id);
      if (waiting.size === 0) worker.unref();
    }
  };

  return {
    specificationVersion: "v1",
    id: JSON.stringify(["transformers", modelDir, dtype]),
    async embed(texts, { signal }) {
      signal?.throwIfAborted();
      if (texts.length === 0) return [];
      await requireModel(modelDir);
      const { data, dimensions: size } = await ask([...texts], signal);
      return texts.map((_, at) => data.subarray(at * size, (at + 1) * size));
    },
    async dispose() {
      isDisposed = true;
      const worker = running;
      running = undefined;
      await worker?.terminate();
      failAll(failure(DISPOSED));
    },
  };
}

const QUANTIZED_WEIGHTS = "onnx/model_quantized.onnx";
const DISPOSED = "the embedder was disposed";

async function requireModel(modelDir: string): Promise<void> {
  const file = path.join(modelDir, "config.json");
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() === true) return;
  throw new CemError(
    "EMBEDDER_MODEL_NOT_FOUND",
    `There is no embedding model in ${modelDir}: ${file} is missing. Put a sentence-embedding model in ONNX form there (config.json, tokenizer.json, onnx/model.onnx).`,
    { details: { modelDir } },
  );
}

function failure(reason: string, cause?: unknown): CemError {
  return new CemError("EMBEDDER_FAILED", `The embedding model can't be used: ${reason}`, { cause });
}
