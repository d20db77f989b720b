import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import type { SealingKey } from "@cem/store";
import type { QueuedRun } from "./protocol.ts";

/** Options of {@link RunQueue.rejoin}: those of an agent's `rejoinRun`. */
export type RejoinOptions = NonNullable<Parameters<NonNullable<Agent["rejoinRun"]>>[1]>;

/** Settings that a host and its workers have in common. */
export interface QueueConnection {
  /** `redis://` or `rediss://`, of Redis 7 or Valkey. */
  url: string;
  /**
   * The prefix of all names.
   *
   * @defaultValue `{cem}`
   */
  prefix?: string | undefined;
  /** Keys to seal what passes through the server: code, results, questions. Default: not sealed. */
  keys?: readonly SealingKey[] | undefined;
}

/** Settings of {@link createRunQueue}. */
export interface RunQueueSettings extends QueueConnection {
  /**
   * How many runs may wait for a worker; more are refused with `QUEUE_FULL`. An owner may have no more waiting runs
   * than places remain free.
   *
   * @defaultValue 10000
   */
  maxWaiting?: number | undefined;
}

/** The owner of runs. Owners that share a queue have separate keys, turns and results. */
export interface QueuedOwner {
  id: string;
  /** Distinguishes successive owners with the same id. Workers refuse runs of a deleted one. */
  incarnation?: string | undefined;
}

/** A run to execute. */
export type AskedRun = Pick<QueuedRun, "kind" | "input" | "owner" | "incarnation">;

/** A run that no worker could execute. */
export interface DeadRun {
  id: string;
  owner?: string | undefined;
  kind: "task" | "code";
  reason: string;
  at: Date;
}

/** The number of runs in each state. */
export interface QueueCounts {
  waiting: number;
  running: number;
  dead: number;
  /** The number of live workers. */
  workers: number;
}

/** The load of a queue. */
export interface QueueLoad extends QueueCounts {
  /** How long the oldest run has waited, in milliseconds; 0 when none waits. */
  oldestWaitMs: number;
  /** Approximate number of runs that ended within the last minute. */
  endedPerMinute: number;
}

/** The runs that wait for workers. */
export interface RunQueue {
  /**
   * Creates an agent whose runs are executed by workers, until it is disposed. It delegates everything else to a local
   * agent: tools, skills and checkpoints.
   *
   * @param local - The local agent, disposed with the new one.
   */
  agent(local: Agent, owner?: QueuedOwner): Agent;
  /**
   * Executes a run on a worker. With `options.runId` and without `rejoin`, an owner's requests with the same id are one
   * run: later requests get the same result, until an hour after its end.
   *
   * @throws CemError `QUEUE_FULL` with `details.retryAfterMs`, `QUEUE_KEY_REUSED`, `STORE_UNAVAILABLE`, or the reason
   *   why a worker can't execute it.
   */
  execute(run: AskedRun, options?: ExecuteOptions): Promise<TaskResult>;
  /**
   * Continues a run that another host began with this `rejoin.key`.
   *
   * @returns `undefined` when the owner has no such run, or it has expired.
   * @throws CemError `STORE_UNAVAILABLE`, or as `execute` does.
   */
  rejoin(key: string, owner?: string, options?: RejoinOptions): Promise<TaskResult | undefined>;
  counts(): Promise<QueueCounts>;
  /** Counts runs, and tests whether one could be put. @throws CemError `STORE_UNAVAILABLE`, also when the server is full */
  probe(): Promise<QueueCounts>;
  load(): Promise<QueueLoad>;
  /** The newest runs that no worker could execute, at most 1,000. They are kept for a week. */
  dead(): Promise<DeadRun[]>;
  /**
   * Puts a dead run into the queue again. Its earlier calls still count: it is repeated only if that is safe.
   *
   * @returns whether there was such a run.
   */
  retry(id: string): Promise<boolean>;
  /**
   * Removes the runs of a deleted owner: waiting runs and runs under way end with `OWNER_GONE`, and nothing is kept of
   * ended ones.
   */
  removeOwner(owner: string): Promise<void>;
  /** Frees the connections. Runs continue; callers that await one here get `ABORTED`. */
  close(): Promise<void>;
}

/** The codec context of a failed run's reason. */
export function placeOfReason(run: string): string {
  return `reason:${run}`;
}
