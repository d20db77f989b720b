import { createHash, randomUUID } from "node:crypto";
import { CemError } from "@cem/core";
import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import { traceCarrier, traced } from "@cem/core/telemetry";
import { shownLocation, storeUnavailable } from "@cem/store";
import { Queue } from "bullmq";
import type { Job } from "bullmq";
import { AwaitedRun } from "./awaited-run.ts";
import {
  DEFAULT_PREFIX,
  KEEP_RESULTS_MS,
  QUEUE,
  connectBriefly,
  createMessageCodec,
  messaging,
  namesOf,
  requireKept,
} from "./connection.ts";
import type { MessageCodec } from "./connection.ts";
import { ASKED } from "./protocol.ts";
import type { QueuedRun, RunReply } from "./protocol.ts";
import { removeRunsOf } from "./remove-runs.ts";
import { placeOfReason } from "./run-queue.ts";
import type {
  AskedRun,
  DeadRun,
  JobData,
  Opened,
  QueueCounts,
  QueueLoad,
  QueuedOwner,
  RejoinOptions,
  RunQueue,
  RunQueueSettings,
} from "./run-queue.ts";
import { Streams } from "./streams.ts";
import { Throughput, Turns } from "./turns.ts";

const MS_PER_SECOND = 1_000;
const DEFAULT_MAX_WAITING = 10_000;
const KEEP_FAILED_SECONDS = 7 * 86_400;
const MAX_LISTED = 1_000;
/** The key of a run's turns: its owner, or the one of its record, a client, where runs have no owner. */
function quotaOwnerOf({ owner, options }: QueuedRun): string | undefined {
  return owner ?? (options.owner === "" ? undefined : options.owner);
}

/** Ids of runs that may be asked for twice. Other keys are made for one run. */
const GIVEN_TWICE = /^id-/u;
const HANDLERS = { elicit: "onElicit", approve: "onApprove", sample: "onSample" } as const;

/** Opens the queue for a host. Connects with the first run. */
export function createRunQueue(settings: RunQueueSettings): RunQueue {
  return new BullRunQueue(settings);
}

class BullRunQueue implements RunQueue {
  readonly #settings: RunQueueSettings;
  readonly #prefix: string;
  readonly #location: string;
  #opened: Opened | undefined;
  /** Whether the server keeps its jobs, once it has said so. */
  #kept: Promise<void> | undefined;
  /** The reason why the connection was last lost. */
  #problem: Error | undefined;

  constructor(settings: RunQueueSettings) {
    this.#settings = settings;
    this.#prefix = settings.prefix ?? DEFAULT_PREFIX;
    this.#location = shownLocation(settings.url);
  }

  agent(local: Agent, owner?: QueuedOwner): Agent {
    return queuedAgent(this, local, owner);
  }

  async execute(asked: AskedRun, options: ExecuteOptions = {}): Promise<TaskResult> {
    return traced(`send ${QUEUE}`, { kind: "producer", attributes: messaging("send") }, () =>
      this.#execute(asked, options),
    );
  }

  async #execute(
    { kind, input, owner, incarnation }: AskedRun,
    options: ExecuteOptions,
  ): Promise<TaskResult> {
    const { limits, typeCheck, mode, context, allowedTools, session, singleUse, runId, record } = options;
    const runOptions = { limits, typeCheck, mode, context, allowedTools, session, singleUse, runId, record };
    const run: QueuedRun = {
      kind,
      input,
      owner,
      incarnation,
      options: { ...runOptions, owner: options.owner },
      asked: ASKED.filter((one) => options[HANDLERS[one]] !== undefined),
      trace: traceCarrier(),
    };
    const id = idOf(owner, options);
    return this.#ask(async (opened) => {
      const awaited = new AwaitedRun(opened, namesOf(this.#prefix, id), id, run, options);
      try {
        await awaited.follow({
          isNew: !GIVEN_TWICE.test(id),
          run: (followed) => this.#put(opened, { id, run, followed }),
        });
      } catch (error) {
        awaited.stop();
        throw error;
      }
      return awaited.result;
    });
  }

  async rejoin(key: string, owner?: string, options: RejoinOptions = {}): Promise<TaskResult | undefined> {
    const id = idOf(owner, { rejoin: { key } });
    return this.#ask(async (opened) => {
      const job = await opened.queue.getJob(id);
      if (job === undefined) return undefined;
      const { codec, streams } = opened;
      const run = codec.decode(`job:${id}`, job.data.payload) as QueuedRun;
      const names = namesOf(this.#prefix, id);
      const replies = (await streams.read(names.replies)) as RunReply[];
      const answered = replies.flatMap((reply) => (reply.type === "cancel" ? [] : [reply.number]));
      const { leave, ...others } = options;
      const awaited = new AwaitedRun(opened, names, id, run, { ...others, rejoin: { key, leave } });
      awaited.leaveOut(answered);
      await awaited.follow();
      return awaited.result;
    });
  }

  async counts(): Promise<QueueCounts> {
    return this.#reach(async ({ queue }) => {
      const [found, workers] = await Promise.all([
        queue.getJobCounts("waiting", "prioritized", "delayed", "active", "failed"),
        queue.getWorkersCount(),
      ]);
      const { waiting = 0, prioritized = 0, delayed = 0, active = 0, failed = 0 } = found;
      return { waiting: waiting + prioritized + delayed, running: active, dead: failed, workers };
    });
  }

  async load(): Promise<QueueLoad> {
    const counts = await this.counts();
    return this.#ask(async ({ turns, throughput }) => {
      const [oldestWaitMs, endedPerMinute] = await Promise.all([
        turns.oldestWaitMs(),
        throughput.perMinute(),
      ]);
      return { ...counts, oldestWaitMs, endedPerMinute };
    });
  }

  async dead(): Promise<DeadRun[]> {
    return this.#reach(async ({ queue, codec }) => {
      const jobs = await queue.getFailed(0, MAX_LISTED - 1);
      return jobs.map(({ id = "", data, failedReason, finishedOn = 0 }) => ({
        id,
        owner: data.owner,
        kind: data.kind,
        reason: reasonOf(codec, id, data) ?? failedReason,
        at: new Date(finishedOn),
      }));
    });
  }

  async retry(id: string): Promise<boolean> {
    return this.#reach(async ({ queue }) => {
      const job = await queue.getJob(id);
      if (job === undefined || !(await job.isFailed())) return false;
      await job.retry("failed");
      return true;
    });
  }

  async removeOwner(owner: string): Promise<void> {
    return this.#reach((opened) => removeRunsOf(opened, this.#prefix, owner));
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.queue.close().catch(() => {});
    opened?.client.disconnect();
    opened?.subscriber.disconnect();
  }

  async #put(
    opened: Opened,
    { id, run, followed }: { id: string; run: QueuedRun; followed: Promise<void> },
  ): Promise<void> {
    const { queue, codec } = opened;
    const mayBeKnown = GIVEN_TWICE.test(id);
    const known = mayBeKnown ? await queue.getJob(id) : undefined;
    if (known !== undefined) return requireSame(codec, known, run);
    const [priority] = await Promise.all([this.#takeTurn(opened, run), followed]);
    const data: JobData = {
      payload: codec.encode(`job:${id}`, run),
      owner: run.owner,
      kind: run.kind,
    };
    await queue.add(run.kind, data, {
      jobId: id,
      priority,
      removeOnComplete: { age: KEEP_RESULTS_MS / MS_PER_SECOND },
      removeOnFail: { age: KEEP_FAILED_SECONDS },
    });
    if (!mayBeKnown) return;
    // Another host may have been faster.
    const added = await queue.getJob(id);
    if (added !== undefined) requireSame(codec, added, run);
  }

  async #takeTurn({ turns, throughput }: Opened, run: QueuedRun): Promise<number> {
    const { maxWaiting = DEFAULT_MAX_WAITING } = this.#settings;
    const { priority, waiting, own } = await turns.take(quotaOwnerOf(run), maxWaiting);
    if (priority !== undefined) return priority;
    const isShare = waiting < maxWaiting;
    const [runs, limit] = isShare ? [own, maxWaiting - waiting] : [waiting, maxWaiting];
    const retryAfterMs = await throughput.waitFor(runs - limit + 1);
    const what = isShare
      ? `${runs} of your runs wait for a worker, which is as many as there is room left for others.`
      : `${runs} runs wait for a worker, and ${limit} may.`;
    throw new CemError("QUEUE_FULL", `${what} Try again in ${Math.ceil(retryAfterMs / MS_PER_SECOND)} s.`, {
      details: { waiting: runs, limit, retryAfterMs },
    });
  }

  /** Asks what BullMQ would ask until it is answered, once the server has answered. */
  #reach<Answer>(question: (opened: Opened) => Promise<Answer>): Promise<Answer> {
    return this.#ask(async (opened) => {
      await opened.client.ping();
      return question(opened);
    });
  }

  async #ask<Answer>(question: (opened: Opened) => Promise<Answer>): Promise<Answer> {
    try {
      const opened = (this.#opened ??= this.#open());
      await (this.#kept ??= this.#requireKept(opened));
      return await question(opened);
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      // That it was tried again says nothing of why.
      const isGivenUp = (error as Error).name === "MaxRetriesPerRequestError";
      throw storeUnavailable(this.#location, isGivenUp ? (this.#problem ?? error) : error);
    }
  }

  async #requireKept({ client }: Opened): Promise<void> {
    try {
      await requireKept(client, this.#settings.url);
    } catch (error) {
      this.#kept = undefined;
      throw error;
    }
  }

  #open(): Opened {
    const { url, keys } = this.#settings;
    const [client, subscriber] = [connectBriefly(url), connectBriefly(url)];
    client.on("error", (problem: Error) => (this.#problem = problem));
    const codec = createMessageCodec(keys);
    const queue = new Queue<JobData>(QUEUE, { connection: client, prefix: this.#prefix });
    queue.on("error", () => {});
    return {
      queue,
      codec,
      client,
      subscriber,
      streams: new Streams(client, subscriber, codec),
      turns: new Turns(client, this.#prefix),
      throughput: new Throughput(client, this.#prefix),
    };
  }
}

/** `undefined` where the library gave up itself, or the key is no longer there. */
function reasonOf(codec: MessageCodec, id: string, { reason }: JobData): string | undefined {
  try {
    return reason === undefined ? undefined : String(codec.decode(placeOfReason(id), reason));
  } catch {
    return undefined;
  }
}

function idOf(
  owner: string | undefined,
  { rejoin, runId }: Pick<ExecuteOptions, "rejoin" | "runId">,
): string {
  const keys = { rejoin: rejoin?.key, id: runId };
  for (const [kind, key] of Object.entries(keys)) {
    if (key === undefined) continue;
    const digest = createHash("sha256").update(JSON.stringify([owner ?? null, key]));
    return `${kind}-${digest.digest("hex")}`;
  }
  return `run-${randomUUID()}`;
}

function requireSame(codec: MessageCodec, job: Job<JobData>, run: QueuedRun): void {
  const known = codec.decode(`job:${job.id ?? ""}`, job.data.payload) as QueuedRun;
  const contentOf = ({ kind, input, options }: QueuedRun): string => JSON.stringify([kind, input, options]);
  if (contentOf(known) === contentOf(run)) return;
  throw new CemError("QUEUE_KEY_REUSED", "The runId was used for another run. Give each run its own.");
}

/** An agent whose runs wait in a queue, and that asks a local agent for all else. */
function queuedAgent(queue: RunQueue, local: Agent, whose: QueuedOwner | undefined): Agent {
  const { id: owner, incarnation } = whose ?? {};
  return {
    specificationVersion: "v1",
    executeTask: (input, options) => queue.execute({ kind: "task", input, owner, incarnation }, options),
    executeCode: (input, options) => queue.execute({ kind: "code", input, owner, incarnation }, options),
    rejoinRun: (key, options) => queue.rejoin(key, owner, options),
    discoverTools: (options) => local.discoverTools(options),
    searchTools: (query, options) => local.searchTools(query, options),
    saveSkill: (draft, options) => local.saveSkill(draft, options),
    checkpoint: (options) => local.checkpoint(options),
    // No guest is opened here: what is asked here is the catalog.
    warm: async (options) => void (await local.discoverTools(options)),
    openResults: async () => local.openResults?.(),
    sandboxStats: () => local.sandboxStats?.(),
    dispose: () => local.dispose(),
  };
}
