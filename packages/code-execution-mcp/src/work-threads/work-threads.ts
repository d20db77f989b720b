import { AsyncLocalStorage } from "node:async_hooks";
import { once } from "node:events";
import { getCompileCacheDir } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { BYTES_PER_MB, CemError, FairGate, fromErrorInfo, moduleBeside, useWorkThreads } from "@cem/core";
import type { ErrorInfo, OffloadedWork } from "@cem/core";

export interface ThreadRequest {
  /** The URL of the module. */
  module: string;
  /** The exported function. */
  name: string;
  args: readonly unknown[];
}

export type ThreadResponse = { result: unknown } | { error: ErrorInfo };

const owners = new AsyncLocalStorage<string>();

/** Runs work on behalf of an owner, whom {@link currentOwner} then returns. */
export function asOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

export function currentOwner(): string | undefined {
  return owners.getStore();
}

/**
 * Starts threads for work that takes long, such as parsing large programs.
 *
 * @param clientOf - The client that the current work is for, if it has no owner.
 * @returns a function that ends them.
 */
export function startWorkThreads(clientOf: () => string = () => ""): { close: () => Promise<void> } {
  const threads = createWorkThreads(() => currentOwner() ?? clientOf());
  const stopUsing = useWorkThreads(threads);
  return {
    close() {
      stopUsing();
      return threads.close();
    },
  };
}

export const WORK_THREAD_LIMITS = {
  /** Number of concurrent threads, at least two. An owner uses half of them at most. */
  threads: Math.max(2, Math.min(4, availableParallelism())),
  /** The default timeout of work, in milliseconds. */
  timeoutMs: 5_000,
  /** The heap of one thread, in MiB. */
  memoryMb: 512,
  /** The idle timeout of a thread, in milliseconds. */
  idleMs: 30_000,
};
export type WorkThreadLimits = typeof WORK_THREAD_LIMITS;

/** How often the heap of a busy thread is checked, in milliseconds. */
const HEAP_CHECK_MS = 50;
/**
 * Margin between a thread's memory limit and its limit in V8, in MiB. V8 ends the process if its limit is reached in a
 * garbage collection that can't be interrupted, so a thread is ended before.
 */
const HEAP_SLACK_MB = 512;

/**
 * Runs long work in threads. Each request has a timeout and ends with its run, by terminating its thread. Owners take
 * turns, and none may occupy all threads. Threads start on demand and end when idle.
 *
 * @param ownerOf - Returns the owner of the current work.
 */
export function createWorkThreads(ownerOf: () => string, limits: WorkThreadLimits = WORK_THREAD_LIMITS) {
  const gate = new FairGate(limits.threads);
  /** Idle threads, with the timers that end them. The most recently used one, whose code is warmest, is the last. */
  const idle = new Map<Worker, NodeJS.Timeout>();
  const threads = new Set<Worker>();
  const closing = new AbortController();

  async function ask(
    request: ThreadRequest,
    {
      transfer = [],
      timeoutMs,
      ended,
    }: Pick<OffloadedWork, "transfer"> & { timeoutMs: number; ended: AbortSignal },
  ): Promise<ThreadResponse> {
    const worker = [...idle.keys()].at(-1) ?? start();
    clearTimeout(idle.get(worker));
    idle.delete(worker);
    const excess = new AbortController();
    const stop = (why: string): void => excess.abort(tooLarge(why));
    const timer = setTimeout(() => stop(`took more than ${timeoutMs / 1_000} s`), timeoutMs).unref();
    const checkHeap = async (): Promise<void> => {
      // Rejects if the thread has ended meanwhile.
      const heap = await worker.getHeapStatistics().catch(() => undefined);
      const used = heap === undefined ? 0 : heap.used_heap_size + heap.external_memory;
      if (used > limits.memoryMb * BYTES_PER_MB) stop("needed too much memory");
    };
    const heapCheck = setInterval(() => void checkHeap(), HEAP_CHECK_MS).unref();
    const signal = AbortSignal.any([ended, excess.signal]);
    try {
      worker.ref();
      worker.postMessage(request, transfer);
      const [response] = (await once(worker, "message", { signal })) as [ThreadResponse];
      worker.unref();
      idle.set(worker, setTimeout(() => void worker.terminate(), limits.idleMs).unref());
      return response;
    } catch (error) {
      void worker.terminate();
      signal.throwIfAborted();
      const isOutOfMemory = (error as NodeJS.ErrnoException).code === "ERR_WORKER_OUT_OF_MEMORY";
      throw isOutOfMemory ? tooLarge("needed too much memory") : error;
    } finally {
      clearTimeout(timer);
      clearInterval(heapCheck);
    }
  }

  function start(): Worker {
    const worker = new Worker(moduleBeside("work-thread", import.meta.url), {
      workerData: { compileCache: getCompileCacheDir() },
      resourceLimits: { maxOldGenerationSizeMb: limits.memoryMb + HEAP_SLACK_MB },
    });
    threads.add(worker);
    // An error is reported to the pending request. An idle thread has none.
    worker.on("error", () => {});
    worker.once("exit", () => {
      threads.delete(worker);
      clearTimeout(idle.get(worker));
      idle.delete(worker);
    });
    return worker;
  }

  return {
    async run({ module, name, args, ...work }: OffloadedWork): Promise<unknown> {
      const { transfer, signal, timeoutMs = limits.timeoutMs } = work;
      const given = signal === undefined ? [] : [signal];
      const ended = AbortSignal.any([...given, closing.signal]);
      const leave = await gate.enter({ owner: ownerOf(), session: "" }, ended);
      try {
        const response = await ask({ module: module.href, name, args }, { transfer, timeoutMs, ended });
        if ("error" in response) throw fromErrorInfo(response.error);
        return response.result;
      } finally {
        leave();
      }
    },
    /** Ends all threads and cancels running and queued work. */
    async close(): Promise<void> {
      closing.abort(new CemError("SERVER_CLOSING", "The server is shutting down. Nothing was run."));
      await Promise.all([...threads].map((worker) => worker.terminate()));
    },
  };
}

function tooLarge(why: string): CemError {
  return new CemError(
    "INPUT_TOO_LARGE",
    `Reading this ${why}, so it was stopped. Nothing was run: make the task or the code shorter.`,
  );
}
