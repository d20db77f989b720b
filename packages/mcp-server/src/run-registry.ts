import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { AgentEvent, ExecuteOptions, TaskResult } from "@cem/core";
import { OpenQuestions } from "./questions.ts";
import type { Answers, Questions } from "./questions.ts";
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
  onEvent?: ((event: AgentEvent) => void) | undefined;
}

/** A call that waits for a run which another call started. */
export type Waiter = Pick<RunRequest, "owner" | "signal" | "onEvent">;

/** What is known of a run when a call has waited for it long enough. */
export type RunView =
  | { state: "finished"; result: TaskResult }
  | { state: "running"; id: string; output: string }
  /** It goes on when somebody answers. */
  | { state: "asking"; id: string; questions: Questions };

/** Hears of every run's end. `result` is absent when the agent itself failed. */
export type RunListener = (run: {
  kind: RunRequest["kind"];
  ms: number;
  result?: TaskResult | undefined;
}) => void;

export interface RunRegistrySettings {
  yieldAfterMs: number;
  /** Default: 10 minutes. */
  idleMs?: number | undefined;
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
    return this.#waitAsOwn(run, request);
  }

  /** Waits for a run that outlasted its call. Ending the wait does not end the run. */
  async wait(id: string, waiter: Waiter): Promise<RunView> {
    const run = this.#find(id, waiter.owner);
    this.#touch(run);
    const state = await run.waitFor(this.#yieldAfterMs, waiter);
    // Who does not wait any more must not take what the next one wants to read.
    waiter.signal.throwIfAborted();
    return this.#view(run, state);
  }

  /** What a run asked that nobody has answered. */
  questionsOf(id: string, owner: string): Questions {
    return this.#find(id, owner).questions.all;
  }

  /** Answers what a run asked, and waits for it as the call did that started it. */
  async answer(id: string, answers: Answers, waiter: Waiter): Promise<RunView> {
    const run = this.#find(id, waiter.owner);
    this.#touch(run);
    run.questions.answer(answers);
    return this.#waitAsOwn(run, waiter);
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

  /** Waits for a run that ends with the call. */
  async #waitAsOwn(run: Run, waiter: Waiter): Promise<RunView> {
    const cancel = (): void => run.end(waiter.signal.reason);
    waiter.signal.addEventListener("abort", cancel, { once: true });
    try {
      if (waiter.signal.aborted) cancel();
      const { signal: _, ...rest } = waiter;
      const state = await run.waitFor(this.#yieldAfterMs, rest);
      if (state === "finished" || this.#keep(run)) return await this.#view(run, state);
      // Nobody could ask for it later: it has this call only.
      run.questions.declineAll();
      return { state: "finished", result: await run.result };
    } finally {
      waiter.signal.removeEventListener("abort", cancel);
    }
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
    if (!this.#yielded.has(run.id) && this.#yielded.size >= MAX_YIELDED_RUNS) {
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
      "RUN_NOT_FOUND",
      `There is no run ${JSON.stringify(id)}. Its result was read already, it was ended, or nobody asked for it for ${this.#idleMs / 60_000} minutes.`,
      { details: { run: id } },
    );
  }

  async #view(run: Run, state: RunState): Promise<RunView> {
    const { id } = run;
    if (state === "asking") return { state, id, questions: run.questions.all };
    if (state === "running") return { state, id, output: run.takeOutput() };
    this.#forget(run);
    return { state, result: await run.result };
  }
}

type RunState = RunView["state"];

class Run {
  readonly id = `run-${randomBytes(9).toString("base64url")}`;
  readonly owner: string;
  readonly result: Promise<TaskResult>;
  readonly #controller = new AbortController();
  readonly questions = new OpenQuestions();
  readonly #ended: Promise<RunState>;
  #onEvent: RunRequest["onEvent"];
  #output = "";
  #outputCharacters = 0;
  finished = false;
  idleTimer: NodeJS.Timeout | undefined;

  constructor({ owner, begin, onEvent }: RunRequest) {
    this.owner = owner;
    this.#onEvent = onEvent;
    const options: ExecuteOptions = {
      signal: this.#controller.signal,
      onEvent: (event) => {
        if (event.type === "output") this.#collect(event.chunk.text);
        this.#onEvent?.(event);
      },
      onElicit: this.questions.elicit,
    };
    this.result = begin(options);
    const settle = (): RunState => {
      this.finished = true;
      return "finished";
    };
    this.#ended = this.result.then(settle, settle);
  }

  end(reason: unknown): void {
    this.#controller.abort(reason);
  }

  /** Waits until it has ended, asks something, or the time is over. */
  async waitFor(
    ms: number,
    { signal, onEvent }: Pick<Partial<RunRequest>, "signal" | "onEvent">,
  ): Promise<RunState> {
    this.#onEvent = onEvent;
    const timer = new AbortController();
    const signals = signal === undefined ? [timer.signal] : [timer.signal, signal];
    const goesOn = (): RunState => "running";
    const timeout = delay(ms, undefined, { signal: AbortSignal.any(signals) }).then(goesOn, goesOn);
    const asking = this.questions.arrival.then((): RunState => "asking");
    try {
      return await Promise.race([this.#ended, asking, timeout]);
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
