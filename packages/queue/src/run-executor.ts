import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import { contextOf, traced } from "@cem/core/telemetry";
import type { Redis } from "ioredis";
import { errorOf } from "./awaited-run.ts";
import { QUEUE, messaging, namesOf } from "./connection.ts";
import type { QueuedRun } from "./protocol.ts";
import type { Streams } from "./streams.ts";
import { WorkerRun } from "./worker-run.ts";
import type { WorkerRunSettings, ActiveRun, RunningAgent } from "./worker-run.ts";

const IDLE_POLL_MS = 50;

interface RunExecutorSettings {
  client: Redis;
  streams: Streams;
  prefix: string;
  /** The worker's name. */
  worker: string;
  agentFor: (owner: string | undefined, incarnation: string | undefined) => Promise<RunningAgent>;
}

/** The runs that a worker is responsible for. */
export class RunExecutor {
  readonly #settings: RunExecutorSettings;
  readonly #active = new Map<string, ActiveRun>();

  constructor(settings: RunExecutorSettings) {
    this.#settings = settings;
  }

  /**
   * Executes a run here.
   *
   * @returns whether it is over. If not, another worker may repeat it.
   * @throws CemError why it can't be set up, and `OWNER_GONE` where its owner was deleted.
   */
  async execute(id: string, run: QueuedRun): Promise<boolean> {
    return this.#attempt(id, run, await WorkerRun.begin(this.#attemptAt(id)));
  }

  /** Executes a run here that was not tried before. `undefined`: it was. */
  async executeFirst(id: string, run: QueuedRun, onBegun?: () => void): Promise<boolean | undefined> {
    const workerRun = await WorkerRun.beginFirst(this.#attemptAt(id));
    if (workerRun === undefined) return undefined;
    onBegun?.();
    return this.#attempt(id, run, workerRun);
  }

  /** Decodes a run. If that fails, the host gets the error. */
  async read(id: string, open: () => QueuedRun): Promise<QueuedRun> {
    try {
      return open();
    } catch (error) {
      throw await failed(await WorkerRun.begin(this.#attemptAt(id)), error);
    }
  }

  /** Is responsible for a run until the work ends. */
  async during<Result>(id: string, one: ActiveRun, work: () => Promise<Result>): Promise<Result> {
    this.#active.set(id, one);
    try {
      return await work();
    } finally {
      if (this.#active.get(id) === one) this.#active.delete(id);
    }
  }

  stop(id: string): void {
    this.#active.get(id)?.stop();
  }

  lose(id: string): void {
    this.#active.get(id)?.lose();
  }

  stopAll(): void {
    for (const one of this.#active.values()) one.stop();
  }

  /** Resolves once no run is under way. */
  async idle(): Promise<void> {
    while (this.#active.size > 0) await sleep(IDLE_POLL_MS);
  }

  #attempt(id: string, run: QueuedRun, workerRun: WorkerRun): Promise<boolean> {
    // A worker that was stuck may have found its own run lost, and taken it again.
    const before = this.#active.get(id);
    if (before instanceof WorkerRun) before.lose();
    const attributes = { ...messaging("process"), "messaging.message.id": id };
    return this.during(id, workerRun, async () => {
      let isOver: boolean;
      try {
        isOver = await traced(
          `process ${QUEUE}`,
          { kind: "consumer", attributes, parent: contextOf(run.trace) },
          () => workerRun.execute(run, () => this.#settings.agentFor(run.owner, run.incarnation)),
        );
      } catch (error) {
        throw await failed(workerRun, error);
      } finally {
        workerRun.end();
      }
      if (workerRun.isOfGone) throw new CemError("OWNER_GONE", "The owner of the run was deleted.");
      return isOver;
    });
  }

  #attemptAt(id: string): WorkerRunSettings {
    const { client, streams, prefix, worker } = this.#settings;
    return { client, streams, worker, names: namesOf(prefix, id) };
  }
}

async function failed(workerRun: WorkerRun, error: unknown): Promise<CemError> {
  const info = toErrorInfo(error);
  await workerRun.fail(info);
  return errorOf(info);
}
