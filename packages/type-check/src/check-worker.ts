import { Worker } from "node:worker_threads";
import type { ToolFolders } from "./host-files.ts";
import type { CheckRequest } from "./program-check.ts";
import type { WorkerAnswer, WorkerMessage } from "./worker-messages.ts";

/** From the sources the worker is one too, and finds the packages beside this one as sources. */
const FROM_SOURCE = import.meta.url.endsWith(".ts");
const WORKER_FILE = new URL(FROM_SOURCE ? "./worker.ts" : "./worker.js", import.meta.url);

export interface WorkerBounds {
  /** For one check, in milliseconds. */
  timeoutMs: number;
  /** For what a check may hold in memory, in MiB. */
  memoryMb: number;
}

/** Loading TypeScript takes a second; on a busy machine many. */
const START_TIMEOUT_MS = 60_000;

/** One thread with TypeScript in it. It keeps nobody's process alive, and ends by being killed. */
export class CheckWorker {
  readonly #worker: Worker;
  readonly #timeoutMs: number;
  readonly #ready = Promise.withResolvers<void>();
  #settle: ((answer: WorkerAnswer) => void) | undefined;
  #ended: string | undefined;

  constructor(folders: ToolFolders, { timeoutMs, memoryMb }: WorkerBounds) {
    this.#timeoutMs = timeoutMs;
    this.#worker = new Worker(WORKER_FILE, {
      workerData: folders,
      ...(FROM_SOURCE && { execArgv: ["--conditions=@cem/source"] }),
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    });
    this.#worker.unref();
    this.#worker.on("message", (message: WorkerMessage) => {
      if ("ready" in message) this.#ready.resolve();
      else this.#settle?.(message);
    });
    this.#worker.on("error", (error: Error & { code?: string | undefined }) => {
      const memory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#end(memory ? `it needed more than ${memoryMb} MiB` : error.message);
    });
    this.#worker.on("exit", () => this.#end("it ended"));
  }

  /** Another is needed for the next check. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** One at a time. Ends the worker when the check takes too long. */
  async check(request: CheckRequest): Promise<WorkerAnswer> {
    const { promise, resolve } = Promise.withResolvers<WorkerAnswer>();
    this.#settle = resolve;
    if (this.#ended !== undefined) return { ok: false, reason: this.#ended };
    this.#worker.ref();
    let timer = setTimeout(() => this.#end("TypeScript did not start"), START_TIMEOUT_MS);
    try {
      await Promise.race([this.#ready.promise, promise]);
      clearTimeout(timer);
      timer = setTimeout(() => this.#end(`it took more than ${this.#timeoutMs / 1000} s`), this.#timeoutMs);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread is no window
      this.#worker.postMessage(request);
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#settle = undefined;
      this.#worker.unref();
    }
  }

  async dispose(): Promise<void> {
    this.#end("it was disposed");
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#ended ??= reason;
    this.#settle?.({ ok: false, reason: this.#ended });
    void this.#worker.terminate();
  }
}
