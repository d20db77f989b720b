import { setTimeout as delay } from "node:timers/promises";
import { CemError, Shares, statusOfRun, toErrorInfo } from "@cem/core";
import type { Agent, ExecuteOptions, RunRecord, Slot, TaskResult } from "@cem/core";
import { measure } from "@cem/core/telemetry";
import {
  MAX_ACTIVE_RUNS_PER_CLIENT,
  MAX_ASKING_RUNS_PER_CLIENT,
  MAX_KEPT_RUNS_PER_CLIENT,
  MAX_RUNS,
  MAX_RUNS_PER_CLIENT,
  YIELDED_RUN_IDLE_MS,
} from "../limits.ts";
import { createKeptRuns } from "./kept-runs.ts";
import type { Answers, Questions } from "./questions.ts";
import { Run, keyOfRun, rejoinKey, runId } from "./run.ts";
import type { RunRequest, RunState, RunView, Waiter, RunWatcher } from "./run.ts";

const MS_PER_MINUTE = 60_000;

/** Lets other runs of the client have a run's place while any of its questions is open, since a person may take long. */
function asideWhileAsking(
  { onElicit, onSample }: Pick<ExecuteOptions, "onElicit" | "onSample">,
  slot: Slot | undefined,
): Pick<ExecuteOptions, "onElicit" | "onSample"> {
  const aside =
    <Request, Answer>(ask: (request: Request) => Promise<Answer>) =>
    async (request: Request): Promise<Answer> => {
      slot?.setWaiting(true);
      try {
        return await ask(request);
      } finally {
        slot?.setWaiting(false);
      }
    };
  return { onElicit: onElicit && aside(onElicit), onSample: onSample && aside(onSample) };
}

/** Called at the end of each run. If the agent threw, `result` is absent and `thrown` is the exception. */
export type RunListener = (run: {
  kind: RunRequest["kind"];
  /** The quota key of its customer. Absent if there are no customers. */
  customer: string | undefined;
  ms: number;
  status: RunRecord["status"];
  result?: TaskResult | undefined;
  thrown?: unknown;
}) => void;

export interface RunRegistrySettings {
  /** How long a call waits for its run, in milliseconds. */
  yieldAfterMs: number;
  /** Whether runs are executed by workers, whose queue schedules clients fairly. */
  areQueued?: boolean | undefined;
  /** The name of this replica, which is part of run ids. Absent: it is the only one. */
  replica?: string | undefined;
}

/**
 * The runs of a server. A run ends with the call that started it, unless it outlasts the call's wait: then it is kept, and
 * its owner can wait for it or cancel it by its id.
 */
export class RunRegistry {
  readonly #runs = new Set<Run>();
  readonly #shares = new Shares(MAX_ACTIVE_RUNS_PER_CLIENT, MAX_ASKING_RUNS_PER_CLIENT);
  readonly #queued = new Shares(MAX_RUNS_PER_CLIENT);
  readonly #settings: RunRegistrySettings;
  readonly #yielded = createKeptRuns((run) => clearTimeout(run.idleTimer));
  readonly #listeners = new Set<RunListener>();
  #watcherOf: ((run: Run) => RunWatcher | undefined) | undefined;
  #onGone: ((quotaOwner: string) => void) | undefined;
  /** How long a call waits for its run, in milliseconds. */
  readonly yieldAfterMs: number;
  #closed = false;

  constructor(settings: RunRegistrySettings) {
    this.#settings = settings;
    this.yieldAfterMs = settings.yieldAfterMs;
  }

  /** The number of active runs, including those that wait for a guest. */
  get active(): number {
    return this.#runs.size;
  }

  /** The number of runs kept after their calls were answered. */
  get kept(): number {
    return this.#yielded.size;
  }

  onFinished(listener: RunListener): void {
    this.#listeners.add(listener);
  }

  /**
   * Watches future runs. The function is called before each run begins and may return a watcher.
   *
   * @param onGone - Called with the quota key of an owner whose data was deleted.
   */
  watch(watcherOf: (run: Run) => RunWatcher | undefined, onGone?: (quotaOwner: string) => void): void {
    this.#watcherOf = watcherOf;
    this.#onGone = onGone;
  }

  /**
   * Starts a run and waits for it up to `yieldAfterMs`.
   *
   * @throws CemError `SERVER_CLOSING`, or `SERVER_BUSY` if there are 1,000 active runs, or 500 of the client.
   */
  async start(request: RunRequest): Promise<RunView> {
    return this.#waitAsOwn(this.#begin(request), request);
  }

  /**
   * Starts a run that is independent of a call. It ends if its questions are not answered in time.
   *
   * @throws CemError `SERVER_CLOSING`, or `SERVER_BUSY` as `start` does, or if too many runs are kept.
   */
  launch(request: RunRequest): Run {
    if (!this.#yielded.hasRoomFor(request.quotaOwner)) {
      const message = `${MAX_KEPT_RUNS_PER_CLIENT} runs are under way that belong to no call, which is the maximum. Nothing was run: try again later.`;
      throw new CemError("SERVER_BUSY", message, {
        details: { runs: MAX_KEPT_RUNS_PER_CLIENT, maxRuns: MAX_KEPT_RUNS_PER_CLIENT },
      });
    }
    const run = this.#begin(request);
    run.isLaunched = true;
    this.#keep(run);
    // No call reads its result; the watcher receives it.
    const forget = (): void => this.#forget(run);
    run.result.then(forget, forget);
    return run;
  }

  #begin(request: RunRequest): Run {
    request.signal.throwIfAborted();
    if (this.#closed) throw new CemError("SERVER_CLOSING", "The server is shutting down. Nothing was run.");
    if (this.#runs.size >= MAX_RUNS && !this.#isBelowShare(request)) {
      const message = `${MAX_RUNS} runs are under way or waiting, which is the maximum. Nothing was run: try again later.`;
      throw new CemError("SERVER_BUSY", message, { details: { runs: this.#runs.size, maxRuns: MAX_RUNS } });
    }
    const run = new Run(this.#inTurn(request), this.#watcherOf, this.#settings.replica);
    this.#track(run);
    return run;
  }

  /** Whether a client has fewer runs than its fair share. */
  #isBelowShare({ quotaOwner }: RunRequest): boolean {
    if (quotaOwner === undefined) return false;
    const own = [...this.#runs].filter((run) => run.quotaOwner === quotaOwner).length;
    const payers = new Set([...this.#runs].map((run) => run.quotaOwner)).add(quotaOwner).size;
    return own < MAX_RUNS / payers / 2;
  }

  /** Takes over a run from a replica that is gone, unless this one has or had it, and keeps it until it is not found. */
  adopt(
    id: string,
    rejoin: NonNullable<Agent["rejoinRun"]>,
    request: Pick<RunRequest, "owner" | "quotaOwner" | "signal">,
  ): void {
    const ownId = this.#ownId(id);
    const isOwn = this.#settings.replica !== undefined && id === ownId;
    if (isOwn || this.#yielded.get(ownId) !== undefined) return;
    const adopted = keyOfRun(id);
    const begin: RunRequest["begin"] = async ({ signal, onEvent, onElicit, onSample, ...options }) => {
      const key = rejoinKey(adopted, request.owner);
      const leave = options.rejoin?.leave;
      const result = await rejoin(key, { signal, onEvent, onElicit, onSample, leave });
      if (result === undefined) throw this.#notFound(id);
      return result;
    };
    this.#keep(this.#begin({ ...request, kind: "code", adopted, begin }));
  }

  /** Waits for a kept run. Ending the wait does not end the run. @throws CemError `RUN_NOT_FOUND` */
  async wait(id: string, waiter: Waiter): Promise<RunView> {
    const run = this.#find(id, waiter.owner);
    this.#touch(run);
    const state = await run.waitFor(this.yieldAfterMs, waiter);
    // A cancelled call must not consume the output or the result, which the next call needs.
    waiter.signal.throwIfAborted();
    return this.#view(run, state);
  }

  /** The unanswered questions of a kept run. @throws CemError `RUN_NOT_FOUND` */
  questionsOf(id: string, owner: string): Questions {
    return this.#find(id, owner).questions.all;
  }

  /** Answers a kept run's questions and waits for it, as `start` does. @throws CemError `RUN_NOT_FOUND` */
  async answer(id: string, answers: Answers, waiter: Waiter): Promise<RunView> {
    const run = this.#find(id, waiter.owner);
    this.#touch(run);
    run.questions.answer(answers);
    return this.#waitAsOwn(run, waiter);
  }

  /** Cancels a kept run and resolves with its result. @throws CemError `RUN_NOT_FOUND` */
  async end(id: string, owner: string, reason?: unknown): Promise<TaskResult> {
    const run = this.#find(id, owner);
    this.#forget(run);
    run.end(reason ?? new CemError("ABORTED", "The run was ended by the client."));
    return run.resultForClient();
  }

  /** Forgets the kept runs of a quotaOwner whose data was deleted. */
  forgetOf(quotaOwner: string): void {
    this.#onGone?.(quotaOwner);
    for (const run of this.#yielded.all())
      if (run.quotaOwner === quotaOwner && run.finished) this.#forget(run);
  }

  /** Refuses new runs, gives running ones `graceMs` milliseconds to finish, then cancels them. */
  async close(graceMs = 0): Promise<void> {
    this.#closed = true;
    const all = Promise.allSettled([...this.#runs].map((run) => run.result));
    if (graceMs > 0 && this.#runs.size > 0) {
      const timer = new AbortController();
      await Promise.race([all, delay(graceMs, undefined, { signal: timer.signal }).catch(() => {})]);
      timer.abort();
    }
    const closing = new CemError("SERVER_CLOSING", "The server is shutting down.");
    for (const run of this.#yielded.all()) {
      this.#forget(run);
      run.leave(closing);
    }
    for (const run of this.#runs) run.end(closing);
    await all;
  }

  /** Wraps a request so that its run begins at its client's turn. @throws CemError `SERVER_BUSY` */
  #inTurn(request: RunRequest): RunRequest {
    const { quotaOwner, begin, facts } = request;
    if (quotaOwner === undefined) return request;
    // Queued runs take no guest here, and the queue itself schedules this client fairly.
    const isQueued = this.#settings.areQueued === true && quotaOwner === facts?.audience;
    const shares = isQueued ? this.#queued : this.#shares;
    const runs = shares.countOf(quotaOwner);
    if (runs >= MAX_RUNS_PER_CLIENT) {
      const message = `${runs} runs of this client are under way or waiting, which is its share. Nothing was run: try again later.`;
      throw new CemError("SERVER_BUSY", message, { details: { runs, maxRuns: MAX_RUNS_PER_CLIENT } });
    }
    const inTurn: RunRequest["begin"] = (options) =>
      shares.run(
        quotaOwner,
        options.signal ?? request.signal,
        (slot) => begin({ ...options, ...asideWhileAsking(options, slot) }),
        (asking) => options.onEvent?.({ type: "waiting", asking }),
      );
    return { ...request, begin: inTurn };
  }

  /** Waits for a run that ends with its call. */
  async #waitAsOwn(run: Run, waiter: Waiter): Promise<RunView> {
    const cancel = (): void => run.end(waiter.signal.reason);
    waiter.signal.addEventListener("abort", cancel, { once: true });
    try {
      if (waiter.signal.aborted) cancel();
      const { signal: _, ...rest } = waiter;
      const state = await run.waitFor(this.yieldAfterMs, rest);
      if (state === "finished" || this.#keep(run)) return await this.#view(run, state);
      // The run can't be kept, so its questions could not be answered later.
      run.questions.cancelAll();
      return { state: "finished", result: await run.resultForClient() };
    } finally {
      waiter.signal.removeEventListener("abort", cancel);
    }
  }

  #track(run: Run): void {
    const started = performance.now();
    this.#runs.add(run);
    const finish = (result?: TaskResult, thrown?: unknown): void => {
      this.#runs.delete(run);
      const ms = performance.now() - started;
      // It was not started here.
      if (run.isAdopted) return;
      // Refusals in results are counted by the agent. Exceptions are counted here.
      if (thrown !== undefined) measure("refusals", 1, { code: toErrorInfo(thrown).code });
      const { kind, facts, owner } = run;
      const customer = facts?.audience === owner ? undefined : facts?.audience;
      for (const listener of this.#listeners)
        listener({ kind, customer, ms, status: statusOfRun(result, thrown), result, thrown });
    };
    run.result.then(finish, (thrown: unknown) => finish(undefined, thrown));
  }

  /** Keeps a run for later calls. Returns `false` if too many are kept already. */
  #keep(run: Run): boolean {
    const isKept = this.#yielded.add(run);
    if (isKept) this.#touch(run);
    return isKept;
  }

  #touch(run: Run): void {
    clearTimeout(run.idleTimer);
    run.idleTimer = setTimeout(() => {
      if (run.isLaunched && run.questions.size === 0) return this.#touch(run);
      this.#forget(run);
      const reason = new CemError("ABORTED", "Nobody asked for the run any longer.");
      // The client may ask another replica for it.
      if (run.isAdopted) run.leave(reason);
      else run.end(reason);
    }, YIELDED_RUN_IDLE_MS).unref();
  }

  #forget(run: Run): void {
    clearTimeout(run.idleTimer);
    this.#yielded.delete(run);
  }

  #find(id: string, owner: string): Run {
    const run = this.#yielded.get(this.#ownId(id));
    if (run !== undefined && run.owner === owner) return run;
    throw this.#notFound(id);
  }

  /** The id of a run at this replica. */
  #ownId(id: string): string {
    return runId(this.#settings.replica, keyOfRun(id));
  }

  #notFound(id: string): CemError {
    const message = `There is no run ${JSON.stringify(id)}. Its result was read already, it was ended, or nobody asked for it for ${YIELDED_RUN_IDLE_MS / MS_PER_MINUTE} minutes.`;
    return new CemError("RUN_NOT_FOUND", message, { details: { run: id, idleMs: YIELDED_RUN_IDLE_MS } });
  }

  async #view(run: Run, state: RunState): Promise<RunView> {
    const { id } = run;
    if (state === "asking") return { state, id, questions: run.questions.all };
    if (state === "running")
      return { state, id, output: run.takeOutput(), since: run.since, waitsFor: run.waitsFor };
    this.#forget(run);
    return { state, result: await run.resultForClient() };
  }
}
