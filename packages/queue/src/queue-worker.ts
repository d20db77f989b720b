import { randomBytes } from "node:crypto";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, CemError, MS_PER_SECOND } from "@cem/core";
import type { AnnouncedCall } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import { measure } from "@cem/core/telemetry";
import { DEFAULT_PREFIX, requireKept, requireSameKeys } from "./connection.ts";
import { createRemembered } from "./remembered.ts";
import type { QueueConnection } from "./run-queue.ts";
import { channelsOf, createSharedRuns, givenRun } from "./shared-runs.ts";
import { connect } from "./streams.ts";
import { attemptRun, type RunningAgent, type WorkerRun } from "./worker-run.ts";

const DEFAULT_CONCURRENCY = 4;
/** Maximum number of runs per slot that wait for answers: each occupies a guest. */
const MAX_LENT = 4;
const DEFAULT_LOST_AFTER_MS = 8_000;
/** Number of heartbeats that a worker sends in the time after which it counts as lost. */
const SIGNS = 5;
/** Delay, after a lost connection, before checking again for runs assigned meanwhile: notices may be in transit. */
const LOOK_AGAIN_MS = 200;
const IDLE_POLL_MS = 50;
const CLOSE_GRACE_MS = 5_000;
const DEFAULT_DRAIN_MS = 20_000;
const ID_BYTES = 6;

/** Settings of {@link startQueueWorker}. */
export interface QueueWorkerSettings extends QueueConnection {
  /**
   * Returns the agent that executes an owner's runs; throws `OWNER_GONE` if the owner was deleted. The caller disposes
   * the agent.
   */
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
  /**
   * Maximum number of concurrent runs. Runs that wait for an answer to a question don't count, up to four times as
   * many.
   *
   * @defaultValue 4
   */
  concurrency?: number | undefined;
  /**
   * Whether a session's guest is kept for the session's next run, which then goes to the worker with the guest.
   *
   * @defaultValue true
   */
  keepsGuests?: boolean | undefined;
  /**
   * Time without a heartbeat, in milliseconds, after which its runs are given to another worker.
   *
   * @defaultValue 8000
   */
  lostAfterMs?: number | undefined;
  /**
   * How long runs may continue after the worker is closed, in milliseconds. Afterwards they are given to another
   * worker, or end as interrupted if they made calls that must not be repeated.
   *
   * @defaultValue 20000
   */
  drainMs?: number | undefined;
  /** The worker's name in messages and logs. Default: the host name and the pid. */
  name?: string | undefined;
  /** Called for problems outside runs, such as a lost connection. */
  onProblem?: ((error: Error) => void) | undefined;
}

/** A worker that takes runs from the queue. */
export interface QueueWorker {
  readonly name: string;
  /** Stops taking runs, waits up to `drainMs` for those under way, and frees the connections. */
  close(): Promise<void>;
}

/**
 * Starts a worker. A run whose worker was lost is repeated if that is safe: it made no calls, or only calls of tools
 * that are read-only or idempotent. Otherwise it ends as interrupted, with the calls that it made.
 *
 * @throws CemError `STORE_UNAVAILABLE` when the server can't be reached at the start, or may drop jobs; `OPTION_INVALID`
 *   without `agentFor`.
 */
export async function startQueueWorker(settings: QueueWorkerSettings): Promise<QueueWorker> {
  const { url, prefix = DEFAULT_PREFIX, agentFor, onProblem = () => {}, keepsGuests = true } = settings;
  // Otherwise it would take runs from other workers only to fail them.
  if (typeof agentFor !== "function")
    throw new CemError("OPTION_INVALID", "startQueueWorker needs agentFor, a function.");
  const { lostAfterMs = DEFAULT_LOST_AFTER_MS, drainMs = DEFAULT_DRAIN_MS } = settings;
  const { client, subscriber, codec, streams, disconnect } = connect(settings, true);
  const runs = createSharedRuns(client, prefix);
  const location = shownLocation(url);
  // Names chosen by people may not be unique.
  const worker = randomBytes(ID_BYTES).toString("hex");
  const active = new Map<string, WorkerRun>();
  const called = createRemembered<readonly AnnouncedCall[]>();
  let slots = settings.concurrency ?? DEFAULT_CONCURRENCY;
  /** Runs that the server had assigned to this worker, but of which it had no notice at its last heartbeat. */
  let unknown: string[] = [];
  let signedAt = 0;

  /** Slots of runs that wait for people, which other runs may use meanwhile. */
  const lent = (): number => {
    const asking = [...active.values()].filter((run) => run.isAsking()).length;
    return Math.min(asking, slots * MAX_LENT);
  };

  /** Sends a heartbeat, and compares the runs assigned to this worker with those that it has. */
  const sign = async (): Promise<void> => {
    const before = [...active];
    const still = unknown.filter((id) => !active.has(id));
    const own = new Set(await runs.sign(worker, { slots: slots + lent(), keepsGuests, lostAfterMs }, still));
    signedAt = performance.now();
    unknown = [...own].filter((id) => !active.has(id));
    for (const [id, run] of before) if (!own.has(id)) run.lose();
  };

  const signSoon = (): void => {
    // A failed heartbeat is followed by the next one.
    sign().catch(() => {});
  };

  const take = async (notice: string): Promise<void> => {
    const given = givenRun(notice);
    const run = attemptRun(
      { runs, streams, codec, prefix, location, worker, agentFor, called, onProblem, onAsking: signSoon },
      given,
    );
    // A worker that was stuck may be assigned its own lost run again.
    active.get(given.id)?.lose();
    active.set(given.id, run);
    measure("queueWait", given.waitedMs / MS_PER_SECOND);
    try {
      // A worker that was stuck may have lost its assigned runs meanwhile.
      if (performance.now() - signedAt > lostAfterMs) await sign();
      await run.execute();
    } finally {
      if (active.get(given.id) === run) active.delete(given.id);
    }
  };

  /** @returns whether all runs ended within the time. */
  const idle = async (withinMs: number): Promise<boolean> => {
    const until = performance.now() + withinMs;
    while (active.size > 0 && performance.now() < until) await sleep(IDLE_POLL_MS);
    return active.size === 0;
  };

  const reach = async (check: () => Promise<void>): Promise<void> => {
    let problem: Error | undefined;
    client.on("error", (error: Error) => (problem = error));
    const late = AbortSignal.timeout(lostAfterMs);
    try {
      await abandonOnAbort(check(), late);
    } catch (error) {
      disconnect();
      if (CemError.isInstance(error)) throw error;
      const isLate = error === late.reason;
      throw storeUnavailable(
        location,
        isLate ? (problem ?? new Error(`no answer within ${lostAfterMs} ms`)) : error,
      );
    }
  };

  await reach(() => requireKept(client, url, onProblem));
  await reach(() => requireSameKeys(client, prefix, codec));
  const channels = channelsOf(prefix, worker);
  subscriber.on("message", (channel, notice) => {
    if (channel === channels.runs) void take(notice).catch(onProblem);
  });
  await Promise.all([streams.subscribe(channels.runs), streams.subscribe(channels.inbox)]);
  subscriber.on("ready", () => {
    runs.dropEnded((message) => onProblem(new Error(message))).catch(() => {});
    signSoon();
    setTimeout(signSoon, LOOK_AGAIN_MS).unref();
  });
  for (const connection of [client, subscriber]) connection.on("error", onProblem);
  await sign();
  const signing = setInterval(signSoon, Math.ceil(lostAfterMs / SIGNS));

  return {
    name: settings.name ?? `${os.hostname()}-${process.pid}`,
    async close() {
      slots = 0;
      signSoon();
      if (!(await idle(drainMs))) {
        for (const run of active.values()) run.stop();
        // If a guest can't be ended in time, its run goes to another worker.
        await idle(CLOSE_GRACE_MS);
      }
      clearInterval(signing);
      // With a lost connection there may be no answer; others notice the missing heartbeats.
      const leaving = runs.leave(worker).catch(() => {});
      await Promise.race([leaving, sleep(CLOSE_GRACE_MS, undefined, { ref: false })]);
      disconnect();
    },
  };
}
