import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { AgentEvent, ExecuteOptions, TaskResult } from "@cem/core";
import { MAX_LIVE_OUTPUT_CHARACTERS, MAX_RUNS, MAX_YIELDED_RUNS, YIELDED_RUN_IDLE_MS } from "./limits.ts";

/** How a run starts: an agent's `executeTask` or `executeCode`. */
export type BeginRun = (options: ExecuteOptions) => Promise<TaskResult>;

export interface RunRequest {
  kind: "task" | "code";
  /** Who may ask for the run later. */
  owner: string;
  begin: BeginRun;
  /** Ends the run, until the run has outlasted its call. */
  signal: AbortSignal;
  onEvent?: (event: AgentEvent) => void;
}

/** What is known of a run when a call has waited for it long enough. */
export type RunView =
  | { state: "finished"; result: TaskResult }
  | { state: "running"; id: string; output: string };

/** Hears of every run's end. `result` is absent when the agent itself failed. */
export type RunListener = (run: { kind: RunRequest["kind"]; ms: number; result?: TaskResult }) => void;

export interface RunRegistrySettings {
  yieldAfterMs: number;
  /** Default: 10 minutes. */
  idleMs?: number;
}

/**
 * The runs of a server. A run belongs to the call that started it; one that outlasts the call is kept for a while,
 * and whoever knows its id can wait for it or end it.
 */
export class RunRegistry {
  readonly #runs = new Set<Run>();
  readonly #yielded = new Map<string, Run>();
  readonly #listeners = new Set<RunListener>();
  readonly #yieldAfterMs: number;
  readonly #idleMs: number;
  #closed = false;

  constructor({ yieldAfterMs, idleMs = YIELDED_RUN_IDLE_MS }: RunRegistrySettings) {
    this.#yieldAfterMs = yieldAfterMs;
    this.#idleMs = idleMs;
  }

  /** Runs under way, those waiting for a guest among them. */
  get active(): number {
    return this.#runs.size;
  }

  /** Runs that outlasted their call and can still be asked for. */
  get kept(): number {
    return this.#yielded.size;
  }

  onFinished(listener: RunListener): void {
    this.#listeners.add(listener);
  }

  /** Starts a run and waits for it, for as long as a call may take. */
  async start(request: RunRequest): Promise<RunView> {
    request.signal.throwIfAborted();
    if (this.#closed) throw new CemError("SERVER_CLOSING", "The server is shutting down. Nothing was run.");
    if (this.#runs.size >= MAX_RUNS) {
      throw new CemError(
        "SERVER_BUSY",
        `${MAX_RUNS} runs are under way or waiting, which is the most. Nothing was run: try again later.`,
        { details: { runs: this.#runs.size } },
      );
    }
    const run = new Run(request);
    this.#track(run, request.kind);
    const cancel = (): void => run.end(request.signal.reason);
    request.signal.addEventListener("abort", cancel, { once: true });
    try {
      const finished = await run.finishedWithin(this.#yieldAfterMs);
      if (finished || !this.#keep(run)) return { state: "finished", result: await run.result };
      return this.#view(run);
    } finally {
      request.signal.removeEventListener("abort", cancel);
    }
  }

  /** Waits for a run that outlasted its call. Ending the wait does not end the run. */
  async wait(id: string, owner: string, signal: AbortSignal): Promise<RunView> {
    const run = this.#find(id, owner);
    this.#touch(run);
    const finished = await run.finishedWithin(this.#yieldAfterMs, signal);
    // Who does not wait any more must not take what the next one wants to read.
    signal.throwIfAborted();
    if (!finished) return this.#view(run);
    this.#forget(run);
    return { state: "finished", result: await run.result };
  }

  /** Ends a run that outlasted its call, and tells what it came to. */
  async end(id: string, owner: string): Promise<TaskResult> {
    const run = this.#find(id, owner);
    this.#forget(run);
    run.end(new CemError("ABORTED", "The run was ended, as asked."));
    return run.result;
  }

  /** Takes no more, gives what is under way `graceMs` to finish, then ends it. */
  async close(graceMs = 0): Promise<void> {
    this.#closed = true;
    const all = Promise.allSettled([...this.#runs].map((run) => run.result));
    if (graceMs > 0 && this.#runs.size > 0) {
      const timer = new AbortController();
      await Promise.race([all, delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    }
    for (const run of this.#runs) run.end(new CemError("SERVER_CLOSING", "The server is shutting down."));
    for (const run of this.#yielded.values()) this.#forget(run);
    await all;
  }

  #track(run: Run, kind: RunRequest["kind"]): void {
    const started = performance.now();
    this.#runs.add(run);
    const finish = (result?: TaskResult): void => {
      this.#runs.delete(run);
      const ms = performance.now() - started;
      for (const listener of this.#listeners) listener({ kind, ms, ...(result && { result }) });
    };
    run.result.then(finish, () => finish());
  }

  /** False when too many are kept already; the call then has to wait. */
  #keep(run: Run): boolean {
    if (this.#yielded.size >= MAX_YIELDED_RUNS) {
      const done = [...this.#yielded.values()].find((kept) => kept.finished);
      if (done === undefined) return false;
      this.#forget(done);
    }
    this.#yielded.set(run.id, run);
    this.#touch(run);
    return true;
  }

  #touch(run: Run): void {
    clearTimeout(run.idleTimer);
    run.idleTimer = setTimeout(() => {
      this.#forget(run);
      run.end(new CemError("ABORTED", "Nobody asked for the run any more."));
    }, this.#idleMs).unref();
  }

  #forget(run: Run): void {
    clearTimeout(run.idleTimer);
    this.#yielded.delete(run.id);
  }

  #find(id: string, owner: string): Run {
    const run = this.#yielded.get(id);
    if (run !== undefined && run.owner === owner) return run;
    throw new CemError(
      "RUN_UNKNOWN",
      `There is no run ${JSON.stringify(id)}. Its result was read already, it was ended, or nobody asked for it for ${this.#idleMs / 60_000} minutes.`,
      { details: { run: id } },
    );
  }

  #view(run: Run): RunView {
    return { state: "running", id: run.id, output: run.takeOutput() };
  }
}

class Run {
  readonly id = `run-${randomBytes(9).toString("base64url")}`;
  readonly owner: string;
  readonly result: Promise<TaskResult>;
  readonly #controller = new AbortController();
  readonly #ended: Promise<boolean>;
  #output = "";
  #outputCharacters = 0;
  finished = false;
  idleTimer: NodeJS.Timeout | undefined;

  constructor({ owner, begin, onEvent }: RunRequest) {
    this.owner = owner;
    const options: ExecuteOptions = {
      signal: this.#controller.signal,
      onEvent: (event) => {
        if (event.type === "output") this.#collect(event.chunk.text);
        onEvent?.(event);
      },
    };
    this.result = begin(options);
    const settle = (): boolean => (this.finished = true);
    this.#ended = this.result.then(settle, settle);
  }

  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  async finishedWithin(ms: number, signal?: AbortSignal): Promise<boolean> {
    const timer = new AbortController();
    const signals = signal === undefined ? [timer.signal] : [timer.signal, signal];
    const timeout = delay(ms, false, { signal: AbortSignal.any(signals) }).catch(() => false);
    try {
      return await Promise.race([this.#ended, timeout]);
    } finally {
      timer.abort();
    }
  }

  /** What was printed since it was last asked for. */
  takeOutput(): string {
    const text = this.#output;
    this.#output = "";
    return text;
  }

  #collect(text: string): void {
    const room = MAX_LIVE_OUTPUT_CHARACTERS - this.#outputCharacters;
    this.#outputCharacters += text.length;
    if (room > 0) this.#output += text.slice(0, room);
  }
}
