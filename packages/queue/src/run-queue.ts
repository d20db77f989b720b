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
  /** Seal what passes through the server: code, results, questions. Default: it passes in clear. */
  keys?: readonly SealingKey[] | undefined;
}

/** Settings of {@link createRunQueue}. */
export interface RunQueueSettings extends QueueConnection {
  /**
   * How many runs may wait for a worker; more are refused with `QUEUE_FULL`. An owner may have as many as it leaves room for.
   *
   * @defaultValue 10000
   */
  maxWaiting?: number | undefined;
}

/** The owner that runs belong to: where several share a queue, each has keys, turns and results of its own. */
export interface QueuedOwner {
  id: string;
  /** Which of the owners with that id. Workers refuse runs of one who was deleted. */
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

/** How many runs are where. */
export interface QueueCounts {
  waiting: number;
  running: number;
  dead: number;
  /** Workers that live. */
  workers: number;
}

/** How a queue keeps up. */
export interface QueueLoad extends QueueCounts {
  /** How long the oldest run has waited; 0 where none waits. */
  oldestWaitMs: number;
  /** Runs that ended within the last minute, about. */
  endedPerMinute: number;
}

/** The runs that wait for workers. */
export interface RunQueue {
  /**
   * An agent whose runs workers execute, until it is disposed. It asks a local agent for all else: for tools, skills and
   * checkpoints.
   *
   * @param local - Is disposed with the agent.
   */
  agent(local: Agent, owner?: QueuedOwner): Agent;
  /**
   * Has a worker execute a run. With `options.runId`, and without `rejoin`, requests of one owner are one run: a later one gets
   * what the first gets, for an hour after its end.
   *
   * @throws CemError `QUEUE_FULL` with `details.retryAfterMs`, `QUEUE_KEY_REUSED`, `STORE_UNAVAILABLE`, or why a worker
   *   can't execute it.
   */
  execute(run: AskedRun, options?: ExecuteOptions): Promise<TaskResult>;
  /**
   * Goes on with a run that another host began with this `rejoin.key`.
   *
   * @returns `undefined` where there is no such run of the owner, or no longer.
   * @throws CemError `STORE_UNAVAILABLE`, or as `execute` does.
   */
  rejoin(key: string, owner?: string, options?: RejoinOptions): Promise<TaskResult | undefined>;
  counts(): Promise<QueueCounts>;
  /** Counts runs, and tries whether one could be put. @throws CemError `STORE_UNAVAILABLE`, also where the server is full */
  probe(): Promise<QueueCounts>;
  load(): Promise<QueueLoad>;
  /** The newest runs that no worker could execute, at most 1,000. They are kept for a week. */
  dead(): Promise<DeadRun[]>;
  /**
   * Puts a dead run into the queue again. Its calls still count: it is repeated only where that does no harm.
   *
   * @returns whether there was such a run.
   */
  retry(id: string): Promise<boolean>;
  /**
   * Removes the runs of an owner who was deleted: those that wait end with `OWNER_GONE`, workers end those under way with it, and
   * nothing is kept of those that are over.
   */
  removeOwner(owner: string): Promise<void>;
  /** Frees the connections. Runs go on; those that are awaited here end with `ABORTED` for who waits. */
  close(): Promise<void>;
}

/** The codec context of a failed run's reason. */
export function placeOfReason(run: string): string {
  return `reason:${run}`;
}
