import { Worker } from "node:worker_threads";
import type { ToolFolders } from "./host-files.ts";
import type { CheckRequest } from "./program-checker.ts";
import type { WorkerAnswer, WorkerMessage } from "./worker-messages.ts";

/** When this file is a source, so is the worker, and it resolves the other packages to their sources. */
const FROM_SOURCE = import.meta.url.endsWith(".ts");
const WORKER_FILE = new URL(FROM_SOURCE ? "./worker.ts" : "./worker.js", import.meta.url);

export interface WorkerBounds {
  /** The timeout of one check, in milliseconds. */
  timeoutMs: number;
  /** The most memory that the thread may use, in MiB. */
  memoryMb: number;
}

/** Loading TypeScript takes about a second, and many on a busy machine. */
const START_TIMEOUT_MS = 60_000;

/** A worker thread that runs TypeScript. It does not keep the process alive. */
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
      execArgv: FROM_SOURCE ? ["--conditions=@cem/source"] : undefined,
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

  /** Whether the thread has ended and can check no more. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /**
   * Checks one program. Only one check may run at a time. A check that exceeds its timeout ends the thread.
   */
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
