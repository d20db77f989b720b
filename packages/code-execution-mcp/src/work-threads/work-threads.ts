import { AsyncLocalStorage } from "node:async_hooks";
import { getCompileCacheDir } from "node:module";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { CemError, moduleBeside, useWorkThreads } from "@cem/core";
import type { ErrorInfo, OffloadedWork } from "@cem/core";

type WorkThreads = Parameters<typeof useWorkThreads>[0];

/** A queue that serves owners in turn, and the items of each in their order. */
class FairQueue<Item> {
  /** The owner whose turn is next stands first. */
  readonly #waiting = new Map<string, Set<Item>>();

  countOf(owner: string): number {
    return this.#waiting.get(owner)?.size ?? 0;
  }

  add(owner: string, item: Item): void {
    const own = this.#waiting.get(owner) ?? new Set();
    this.#waiting.set(owner, own.add(item));
  }

  /** Takes out the next item whose owner may have one now. */
  take(mayHave: (owner: string) => boolean): Item | undefined {
    const owner = [...this.#waiting.keys()].find(mayHave);
    const own = owner === undefined ? undefined : this.#waiting.get(owner);
    const item = own?.values().next().value;
    if (owner === undefined || own === undefined || item === undefined) return undefined;
    own.delete(item);
    this.#waiting.delete(owner);
    // Others' turns come first.
    if (own.size > 0) this.#waiting.set(owner, own);
    return item;
  }

  /** Takes an item out of its owner's turn. */
  remove(owner: string, item: Item): void {
    const own = this.#waiting.get(owner);
    if (own?.delete(item) === true && own.size === 0) this.#waiting.delete(owner);
  }
}

/** One piece of work for a thread. */
export interface ThreadRequest {
  /** The URL of the module. */
  module: string;
  /** The exported function. */
  name: string;
  args: readonly unknown[];
}

/** How the work ended. */
export type ThreadResponse = { result: unknown } | { error: ErrorInfo };

const owners = new AsyncLocalStorage<string>();

/** Does the work of one owner, so that {@link currentOwner} knows. */
export function asOwner<T>(owner: string, work: () => T): T {
  return owners.run(owner, work);
}

/** The owner of the work under way. */
export function currentOwner(): string | undefined {
  return owners.getStore();
}

/**
 * Has what takes long be done by threads of this process: reading large programs.
 *
 * @param clientOf - The client that the work under way is for, where it has no owner.
 * @returns a function that ends them.
 */
export function startWorkThreads(clientOf: () => string = () => ""): { close: () => Promise<void> } {
  const threads = new OwnedWorkThreads(() => currentOwner() ?? clientOf());
  const stopUsing = useWorkThreads(threads);
  const close = (): Promise<void> => {
    stopUsing();
    return threads.close();
  };
  return { close };
}

/** Limits of work threads. */
export interface WorkThreadLimits {
  /** Threads at once. One owner has all but one of them at most, so at least two. */
  threads: number;
  /** The timeout of work that names none, in milliseconds. */
  timeoutMs: number;
  /** Pieces of work of one owner that wait. */
  waitingPerOwner: number;
  /** The heap of one thread, in MiB. */
  memoryMb: number;
  /** The idle timeout of a thread, in milliseconds. */
  idleMs: number;
}

export const WORK_THREAD_LIMITS: WorkThreadLimits = {
  threads: Math.max(2, Math.min(4, availableParallelism())),
  timeoutMs: 5_000,
  waitingPerOwner: 100,
  memoryMb: 512,
  idleMs: 30_000,
};

/** How often the heap of a thread at work is looked at, in milliseconds. */
const HEAP_CHECK_MS = 50;
/**
 * Margin between a thread's memory limit and its limit in V8, in MiB. V8 ends the process if its limit is reached in a
 * garbage collection that can't be interrupted, so a thread is ended before.
 */
const HEAP_SLACK_MB = 512;
const BYTES_PER_MB = 2 ** 20;

interface Job {
  owner: string;
  timeoutMs: number;
  request: ThreadRequest;
  end(response: ThreadResponse): void;
  fail(error: unknown): void;
}

interface Thread {
  worker: Worker;
  job: Job | undefined;
  /** Ends work that takes too long; without work the thread itself. */
  timer: NodeJS.Timeout | undefined;
  /** Looks at the heap while there is work. */
  heapCheck: NodeJS.Timeout | undefined;
}

/**
 * Does work that may take long in threads. Each piece has a timeout and is ended with its run: its thread is terminated.
 * Owners take turns, and none has all threads. Threads start when they are needed and end when they are idle.
 */
export class OwnedWorkThreads implements WorkThreads {
  readonly #ownerOf: () => string;
  readonly #limits: WorkThreadLimits;
  readonly #queue = new FairQueue<Job>();
  readonly #threads = new Set<Thread>();
  readonly #ending = new Set<Promise<unknown>>();
  #closed = false;

  /** @param ownerOf - The owner of the work under way here. */
  constructor(ownerOf: () => string, limits: WorkThreadLimits = WORK_THREAD_LIMITS) {
    this.#ownerOf = ownerOf;
    this.#limits = limits;
  }

  async run({ module, name, args, signal, timeoutMs }: OffloadedWork): Promise<unknown> {
    signal?.throwIfAborted();
    const owner = this.#ownerOf();
    if (this.#closed) throw new CemError("SERVER_CLOSING", "The server is shutting down. Nothing was run.");
    if (this.#queue.countOf(owner) >= this.#limits.waitingPerOwner) throw this.#tooMany();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const job: Job = {
      owner,
      timeoutMs: timeoutMs ?? this.#limits.timeoutMs,
      request: { module: module.href, name, args },
      end: (response) => ("error" in response ? reject(errorOf(response.error)) : resolve(response.result)),
      fail: reject,
    };
    const onAbort = (): void => this.#cancel(job, signal?.reason);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#queue.add(owner, job);
    this.#assign();
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Ends all threads, and the work that is under way or waits. */
  async close(): Promise<void> {
    this.#closed = true;
    const closing = new CemError("SERVER_CLOSING", "The server is shutting down.");
    for (let job = this.#queue.take(() => true); job !== undefined; job = this.#queue.take(() => true))
      job.fail(closing);
    for (const thread of this.#threads) this.#end(thread, closing);
    await Promise.all(this.#ending);
  }

  #assign(): void {
    const most = this.#limits.threads;
    const mayHave = (owner: string): boolean =>
      [...this.#threads].filter(({ job }) => job?.owner === owner).length < most - 1;
    while (this.#busy < most) {
      const job = this.#queue.take(mayHave);
      if (job === undefined) return;
      // The one used last has the most compiled.
      const idle = [...this.#threads].findLast(({ job: own }) => own === undefined);
      this.#give(idle ?? this.#start(), job);
    }
  }

  get #busy(): number {
    return [...this.#threads].filter(({ job }) => job !== undefined).length;
  }

  #give(thread: Thread, job: Job): void {
    const { timeoutMs } = job;
    thread.job = job;
    thread.worker.ref();
    clearTimeout(thread.timer);
    thread.timer = setTimeout(
      () => this.#end(thread, tooLarge(`took more than ${timeoutMs / 1_000} s`)),
      timeoutMs,
    ).unref();
    thread.heapCheck = setInterval(() => void this.#checkHeap(thread, job), HEAP_CHECK_MS).unref();
    try {
      thread.worker.postMessage(job.request, []);
    } catch (error) {
      // Something among the arguments can't be cloned.
      this.#rest(thread);
      job.fail(error);
    }
  }

  async #checkHeap(thread: Thread, job: Job): Promise<void> {
    // Rejects where the thread has ended meanwhile.
    const heap = await thread.worker.getHeapStatistics().catch(() => undefined);
    if (heap === undefined || thread.job !== job) return;
    const used = heap.used_heap_size + heap.external_memory;
    if (used > this.#limits.memoryMb * BYTES_PER_MB) this.#end(thread, tooLarge("needed too much memory"));
  }

  #start(): Thread {
    const worker = new Worker(moduleBeside("work-thread", import.meta.url), {
      workerData: { compileCache: getCompileCacheDir() },
      resourceLimits: { maxOldGenerationSizeMb: this.#limits.memoryMb + HEAP_SLACK_MB },
    });
    const thread: Thread = { worker, job: undefined, timer: undefined, heapCheck: undefined };
    worker.on("message", (response: ThreadResponse) => {
      const { job } = thread;
      this.#rest(thread);
      job?.end(response);
      this.#assign();
    });
    worker.once("error", (error: NodeJS.ErrnoException) => {
      const isOutOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#end(thread, isOutOfMemory ? tooLarge("needed too much memory") : error);
    });
    worker.once("exit", (code) => this.#end(thread, new Error(`The thread ended with code ${code}.`)));
    this.#threads.add(thread);
    return thread;
  }

  /** Leaves a thread without work. */
  #rest(thread: Thread): void {
    thread.job = undefined;
    thread.worker.unref();
    clearTimeout(thread.timer);
    clearInterval(thread.heapCheck);
    thread.timer = setTimeout(() => this.#end(thread, undefined), this.#limits.idleMs).unref();
    // The last one is taken first.
    this.#threads.delete(thread);
    this.#threads.add(thread);
  }

  #cancel(job: Job, reason: unknown): void {
    this.#queue.remove(job.owner, job);
    job.fail(reason);
    const thread = [...this.#threads].find((one) => one.job === job);
    if (thread !== undefined) this.#end(thread, reason);
  }

  #end(thread: Thread, reason: unknown): void {
    if (!this.#threads.delete(thread)) return;
    clearTimeout(thread.timer);
    clearInterval(thread.heapCheck);
    thread.job?.fail(reason);
    const ending = thread.worker.terminate().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
    this.#assign();
  }

  #tooMany(): CemError {
    const { waitingPerOwner: most } = this.#limits;
    const message = `${most} large tasks or programs of this client wait to be read, which is its share. Nothing was run: try again later.`;
    return new CemError("SERVER_BUSY", message, { details: { waiting: most } });
  }
}

function tooLarge(why: string): CemError {
  return new CemError(
    "INPUT_TOO_LARGE",
    `Reading this ${why}, so it was stopped. Nothing was run: make the task or the code shorter.`,
  );
}

function errorOf({ code, message, details }: ErrorInfo): CemError {
  return new CemError(code, message, { details });
}
