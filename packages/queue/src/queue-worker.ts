import { randomBytes } from "node:crypto";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import { measure } from "@cem/core/telemetry";
import type { Redis } from "ioredis";
import {
  DEFAULT_PREFIX,
  connectPatiently,
  createMessageCodec,
  requireKept,
  requireSameKeys,
} from "./connection.ts";
import type { QueueConnection } from "./run-queue.ts";
import { SharedRuns, channelsOf, givenRun } from "./shared-runs.ts";
import { Streams } from "./streams.ts";
import { WorkerRun } from "./worker-run.ts";
import type { RunningAgent, WorkerRunSettings } from "./worker-run.ts";

const DEFAULT_CONCURRENCY = 4;
/** For each of its slots a worker has at most so many runs that wait for answers: each has a guest. */
const MAX_LENT = 4;
const DEFAULT_LOST_AFTER_MS = 8_000;
/** How many signs of life a worker gives in the time after which it counts as lost. */
const SIGNS = 5;
/** After a cut, what was given to a worker meanwhile is looked for once more after this: notices may be on their way. */
const LOOK_AGAIN_MS = 200;
const IDLE_POLL_MS = 50;
const CLOSE_GRACE_MS = 5_000;
const DEFAULT_DRAIN_MS = 20_000;
const ID_BYTES = 6;
const MS_PER_SECOND = 1_000;

/** Settings of {@link startQueueWorker}. */
export interface QueueWorkerSettings extends QueueConnection {
  /** The agent that executes an owner's runs, `OWNER_GONE` where they were deleted. It is the caller's to dispose. */
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
  /**
   * How many runs are executed at once. Those that wait for an answer to a question don't count, up to four times as many.
   *
   * @defaultValue 4
   */
  concurrency?: number | undefined;
  /**
   * Whether a session's guest is kept for its next run, which is then executed by the worker that has the guest.
   *
   * @defaultValue true
   */
  keepsGuests?: boolean | undefined;
  /**
   * After so many milliseconds without a sign of life its runs are given to another worker.
   *
   * @defaultValue 8000
   */
  lostAfterMs?: number | undefined;
  /**
   * How long runs under way may take to end once the worker is closed. Then they are given to another worker, or end as
   * interrupted where they called what is not to be repeated.
   *
   * @defaultValue 20000
   */
  drainMs?: number | undefined;
  /** The worker's name in messages and logs. Default: the host's name and the process's number. */
  name?: string | undefined;
  /** Called for problems beside the runs, such as a connection that was cut. */
  onProblem?: ((error: Error) => void) | undefined;
}

/** A worker that takes runs from the queue. */
export interface QueueWorker {
  readonly name: string;
  /** Takes no more runs, waits for those under way as long as they may take, and frees the connections. */
  close(): Promise<void>;
}

/**
 * Starts a worker. A run whose worker was lost is repeated where that does no harm: it called nothing, or only tools that
 * read or are idempotent. Else it ends as interrupted, with the calls that it made.
 *
 * @throws CemError `STORE_UNAVAILABLE` when the server can't be reached at the start, or may drop jobs.
 */
export async function startQueueWorker(settings: QueueWorkerSettings): Promise<QueueWorker> {
  const worker = new RedisQueueWorker(settings);
  await worker.open();
  return worker;
}

class RedisQueueWorker implements QueueWorker {
  readonly name: string;
  readonly #settings: QueueWorkerSettings;
  readonly #runSettings: WorkerRunSettings;
  readonly #client: Redis;
  readonly #subscriber: Redis;
  readonly #lostAfterMs: number;
  readonly #active = new Map<string, WorkerRun>();
  /** Runs that are this worker's by the server, and of which it had no notice at its last sign of life. */
  #unknown: string[] = [];
  #slots: number;
  #signing: NodeJS.Timeout | undefined;
  #signedAt = 0;

  constructor(settings: QueueWorkerSettings) {
    const { url, prefix = DEFAULT_PREFIX, keys, agentFor } = settings;
    this.name = settings.name ?? `${os.hostname()}-${process.pid}`;
    this.#settings = settings;
    this.#lostAfterMs = settings.lostAfterMs ?? DEFAULT_LOST_AFTER_MS;
    this.#slots = settings.concurrency ?? DEFAULT_CONCURRENCY;
    this.#client = connectPatiently(url);
    this.#subscriber = connectPatiently(url);
    const codec = createMessageCodec(keys);
    this.#runSettings = {
      runs: new SharedRuns(this.#client, prefix),
      streams: new Streams(this.#client, this.#subscriber, codec),
      codec,
      prefix,
      location: shownLocation(url),
      // Names that people give may be given twice.
      worker: randomBytes(ID_BYTES).toString("hex"),
      agentFor,
      onAsking: () => this.#signSoon(),
    };
  }

  async open(): Promise<void> {
    const { url, onProblem = () => {} } = this.#settings;
    const { codec, prefix, worker, streams } = this.#runSettings;
    await this.#reach(() => requireKept(this.#client, url, onProblem));
    await this.#reach(() => requireSameKeys(this.#client, prefix, codec));
    const { runs, inbox } = channelsOf(prefix, worker);
    this.#subscriber.on("message", (channel, notice) => {
      if (channel === runs) void this.#take(notice).catch(onProblem);
    });
    await Promise.all([streams.subscribe(runs), streams.subscribe(inbox)]);
    this.#subscriber.on("ready", () => {
      this.#signSoon();
      setTimeout(() => this.#signSoon(), LOOK_AGAIN_MS).unref();
    });
    for (const connection of [this.#client, this.#subscriber]) connection.on("error", onProblem);
    await this.#sign();
    this.#signing = setInterval(() => this.#signSoon(), Math.ceil(this.#lostAfterMs / SIGNS));
  }

  async close(): Promise<void> {
    const { drainMs = DEFAULT_DRAIN_MS } = this.#settings;
    this.#slots = 0;
    this.#signSoon();
    if (!(await this.#idle(drainMs))) {
      for (const run of this.#active.values()) run.stop();
      // A guest that can't be ended in time loses its run to another worker.
      await this.#idle(CLOSE_GRACE_MS);
    }
    clearInterval(this.#signing);
    // After a cut there may be no answer: others find its signs to have stopped.
    const leaving = this.#runSettings.runs.leave(this.#runSettings.worker).catch(() => {});
    await Promise.race([leaving, sleep(CLOSE_GRACE_MS, undefined, { ref: false })]);
    this.#client.disconnect();
    this.#subscriber.disconnect();
  }

  async #take(notice: string): Promise<void> {
    const given = givenRun(notice);
    const run = new WorkerRun(this.#runSettings, given);
    // A worker that was stuck may have found its own run lost, and taken it again.
    this.#active.get(given.id)?.lose();
    this.#active.set(given.id, run);
    measure("queueWait", given.waitedMs / MS_PER_SECOND);
    try {
      // One that was stuck may have lost what it was given meanwhile.
      if (performance.now() - this.#signedAt > this.#lostAfterMs) await this.#sign();
      await run.execute();
    } finally {
      if (this.#active.get(given.id) === run) this.#active.delete(given.id);
    }
  }

  #signSoon(): void {
    // With the next one.
    this.#sign().catch(() => {});
  }

  /** Gives a sign of life, and compares the runs that are this worker's with those that it has. */
  async #sign(): Promise<void> {
    const { runs, worker } = this.#runSettings;
    const { keepsGuests = true } = this.#settings;
    const before = [...this.#active];
    const unknown = this.#unknown.filter((id) => !this.#active.has(id));
    const settings = { slots: this.#slots + this.#lent(), keepsGuests, lostAfterMs: this.#lostAfterMs };
    const own = new Set(await runs.sign(worker, settings, unknown));
    this.#signedAt = performance.now();
    this.#unknown = [...own].filter((id) => !this.#active.has(id));
    for (const [id, run] of before) if (!own.has(id)) run.lose();
  }

  /** Slots of runs that wait for people, who take their time: others have them meanwhile. */
  #lent(): number {
    const asking = [...this.#active.values()].filter((run) => run.isAsking).length;
    return Math.min(asking, this.#slots * MAX_LENT);
  }

  /** @returns whether no run was under way any more within a time. */
  async #idle(withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs;
    while (this.#active.size > 0 && performance.now() < until) await sleep(IDLE_POLL_MS);
    return this.#active.size === 0;
  }

  async #reach(check: () => Promise<void>): Promise<void> {
    const location = shownLocation(this.#settings.url);
    let problem: Error | undefined;
    this.#client.on("error", (error: Error) => (problem = error));
    const over = new AbortController();
    const late = sleep(this.#lostAfterMs, undefined, { signal: over.signal }).then(() => {
      throw problem ?? new Error(`no answer within ${this.#lostAfterMs} ms`);
    });
    try {
      await Promise.race([check(), late]);
    } catch (error) {
      this.#client.disconnect();
      this.#subscriber.disconnect();
      throw CemError.isInstance(error) ? error : storeUnavailable(location, error);
    } finally {
      late.catch(() => {});
      over.abort();
    }
  }
}
