import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import { contextOf, traced } from "@cem/core/telemetry";
import { errorOf } from "./awaited-run.ts";
import { QUEUE, messaging } from "./connection.ts";
import type { QueuedRun } from "./protocol.ts";
import { WorkerRun } from "./worker-run.ts";
import type { ActiveRun, Beginning, RunningAgent, WorkerRunSettings } from "./worker-run.ts";

const IDLE_POLL_MS = 50;

interface RunExecutorSettings extends WorkerRunSettings {
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
   * Begins an attempt at a run and executes it here.
   *
   * @param onBegun - Called once it was begun.
   * @returns whether it is over. If not, another worker may repeat it. `undefined`: it was not begun; or the worker to which it goes.
   * @throws CemError why it can't be set up, and `OWNER_GONE` where its owner was deleted.
   */
  async execute(
    id: string,
    run: QueuedRun,
    beginning: Beginning = {},
    onBegun?: () => void,
  ): Promise<boolean | { worker: string } | undefined> {
    const workerRun = new WorkerRun(this.#settings, id);
    let begun: Awaited<ReturnType<WorkerRun["begin"]>>;
    try {
      begun = await workerRun.begin(beginning);
    } finally {
      if (begun !== "begun") workerRun.end();
    }
    if (begun !== "begun") return begun;
    onBegun?.();
    return this.#attempt(id, run, workerRun);
  }

  /** Decodes a run. If that fails, the host gets the error. */
  async read(id: string, open: () => QueuedRun): Promise<QueuedRun> {
    try {
      return open();
    } catch (error) {
      const workerRun = new WorkerRun(this.#settings, id);
      try {
        await workerRun.begin();
        throw await failed(workerRun, error);
      } finally {
        workerRun.end();
      }
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
}

async function failed(workerRun: WorkerRun, error: unknown): Promise<CemError> {
  const info = toErrorInfo(error);
  await workerRun.fail(info);
  return errorOf(info);
}
