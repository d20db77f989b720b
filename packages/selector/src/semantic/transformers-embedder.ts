import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import type { Worker } from "node:worker_threads";
import { CemError, moduleBeside, type ErrorInfo } from "@cem/core";
import { TRANSFORMERS } from "./transformers-library.ts";
import type { Embedder, EmbedOptions } from "./semantic-search.ts";
import type { EmbedFailure, EmbedReply, EmbedRequest, ModelSettings } from "./transformers-worker.ts";

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
    const worker = this.#worker;
    this.#worker = undefined;
    await worker?.terminate();
    this.#failAll(failure("the embedder was disposed"));
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
