import { randomBytes } from "node:crypto";
import os from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, FairGate, toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import { instruments } from "@cem/core/telemetry";
import { UnrecoverableError, WaitingError, Worker } from "bullmq";
import type { Job } from "bullmq";
import type { Redis } from "ioredis";
import { isOfGone } from "./worker-run.ts";
import type { RunningAgent } from "./worker-run.ts";
import { RunExecutor } from "./run-executor.ts";
import { DEFAULT_PREFIX, QUEUE, connectPatiently, createMessageCodec, requireKept } from "./connection.ts";
import { AffinityRouter } from "./affinity-router.ts";
import { Peers, warmSession } from "./peers.ts";
import type { QueuedRun } from "./protocol.ts";
import { placeOfReason } from "./run-queue.ts";
import type { JobData, QueueConnection } from "./run-queue.ts";
import { Streams } from "./streams.ts";

const DEFAULT_CONCURRENCY = 4;
const DEFAULT_LOST_AFTER_MS = 8_000;
/** How often lost workers are looked for while one counts as lost: a look too late adds to the time. */
const LOOKS = 5;
/** How often a run is given to another worker before it counts as what loses them. */
const MAX_LOSSES = 2;
const CLOSE_GRACE_MS = 5_000;
const DEFAULT_DRAIN_MS = 20_000;
const ID_BYTES = 6;
const MS_PER_SECOND = 1_000;

/** Settings of {@link startQueueWorker}. */
export interface QueueWorkerSettings extends QueueConnection {
  /** The agent that executes an owner's runs, `OWNER_GONE` where they were deleted. It is the caller's to dispose. */
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
  /**
   * How many runs are executed at once.
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
  const { url, prefix = DEFAULT_PREFIX, keys, onProblem = () => {} } = settings;
  const { lostAfterMs = DEFAULT_LOST_AFTER_MS, concurrency = DEFAULT_CONCURRENCY } = settings;
  const { drainMs = DEFAULT_DRAIN_MS } = settings;
  const name = settings.name ?? `${os.hostname()}-${process.pid}`;
  const [client, subscriber] = [connectPatiently(url), connectPatiently(url)];
  const codec = createMessageCodec(keys);
  const streams = new Streams(client, subscriber, codec);

  const { agentFor, keepsGuests = true } = settings;
  // Names that people give may be given twice.
  const ownId = randomBytes(ID_BYTES).toString("hex");
  const group = { base: `${prefix}:worker`, name: ownId };
  const executor = new RunExecutor({ client, streams, prefix, worker: name, peers: group, agentFor });
  const router = new AffinityRouter({
    name: ownId,
    peers: new Peers({ client, streams, ...group, lostAfterMs }),
    executor,
    sessionOf: (run) => (keepsGuests ? warmSession(prefix, run) : undefined),
    slots: new FairGate(concurrency),
  });

  /** Repeating what can't be set up would fail again: it waits for a person. */
  const refuse = async (job: Job<JobData>, error: ErrorInfo): Promise<void> => {
    // Nothing is kept of an owner who was deleted.
    if (isOfGone(error)) job.opts.removeOnComplete = true;
    else {
      const reason = codec.encode(placeOfReason(job.id ?? ""), error.message);
      await job.updateData({ ...job.data, reason });
      throw new UnrecoverableError(error.code);
    }
  };

  const take = async (job: Job<JobData>, token?: string): Promise<void> => {
    const id = job.id ?? "";
    // By two clocks, which may differ.
    const waitedMs = Math.max(0, Date.now() - job.timestamp);
    instruments().queueWait.record(waitedMs / MS_PER_SECOND);
    let isOver = true;
    try {
      const run = await executor.read(id, () => codec.decode(`job:${id}`, job.data.payload) as QueuedRun);
      isOver = await router.execute(id, run, job.priority - 1);
    } catch (error) {
      await refuse(job, toErrorInfo(error));
    }
    if (isOver) return;
    await job.moveToWait(token);
    throw new WaitingError();
  };
  const worker = new Worker<JobData>(QUEUE, take, {
    autorun: false,
    connection: client,
    prefix,
    concurrency,
    lockDuration: lostAfterMs,
    stalledInterval: Math.ceil(lostAfterMs / LOOKS),
    maxStalledCount: MAX_LOSSES,
  });
  worker.on("error", onProblem);
  // Others have taken or will take them.
  worker.on("lockRenewalFailed", (ids) => {
    for (const id of ids) executor.lose(id);
  });
  await reach(worker, () => requireKept(client, url, onProblem), client, url, lostAfterMs);
  await router.open();
  worker.run().catch(onProblem);
  return {
    name,
    close: async () => {
      // After a cut the library may wait for its connection for ever; a run whose end was not noted is not repeated.
      router.stopAccepting();
      const closed = Promise.all([worker.close(), executor.idle()]);
      const drained = new AbortController();
      const late = sleep(drainMs, "late" as const, { signal: drained.signal }).catch(
        () => "in time" as const,
      );
      if ((await Promise.race([closed, late])) === "late") executor.stopAll();
      drained.abort();
      // A guest that can't be ended in time loses its run to another worker, as one that is lost does.
      const given = late.then(() => sleep(CLOSE_GRACE_MS, undefined, { ref: false }));
      await Promise.race([closed, executor.idle().then(() => sleep(CLOSE_GRACE_MS)), given]);
      router.close();
      client.disconnect();
      subscriber.disconnect();
    },
  };
}

async function reach(
  worker: Worker,
  check: () => Promise<void>,
  client: Redis,
  url: string,
  withinMs: number,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  let problem: Error | undefined;
  client.on("error", (error: Error) => (problem = error));
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(problem ?? new Error(`no answer within ${withinMs} ms`)), withinMs);
  });
  try {
    await Promise.race([worker.waitUntilReady().then(check), late]);
  } catch (error) {
    await worker.close(true).catch(() => {});
    throw CemError.isInstance(error) ? error : storeUnavailable(shownLocation(url), error);
  } finally {
    clearTimeout(timer);
  }
}
