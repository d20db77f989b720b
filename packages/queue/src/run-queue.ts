import type { Agent, ExecuteOptions, TaskResult } from "@cem/core";
import type { SealingKey } from "@cem/store";
import type { QueuedRun } from "./protocol.ts";
import type { Urgency } from "./turns.ts";

type RejoinOptions = NonNullable<Parameters<NonNullable<Agent["rejoinRun"]>>[1]>;

/** Settings that a host and its workers have in common. */
export interface QueueConnection {
  /** `redis://` or `rediss://`, of Redis 7 or Valkey. */
  url: string;
  /**
   * What all names begin with.
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
   * How many runs may wait for a worker; more are refused with `QUEUE_FULL`. A customer may have as many as it leaves room for.
   *
   * @defaultValue 10000
   */
  maxWaiting?: number | undefined;
}

/** Options of a run in a queue, beyond those of any run. */
export interface QueuedOptions extends ExecuteOptions {
  /**
   * Makes requests with this key one run: a later one gets what the first gets, for an hour after its end. So does `runId`
   * where it is given without `rejoin`.
   */
  idempotencyKey?: string | undefined;
  /** @defaultValue `normal` */
  urgency?: Urgency | undefined;
}

/** Whose runs they are. */
export interface QueuedCustomer {
  id: string;
  /** Which of the customers with that id. Workers refuse runs of one who was deleted. */
  incarnation?: string | undefined;
}

/** What is to be carried out. */
export type AskedRun = Pick<QueuedRun, "kind" | "input" | "customer" | "incarnation">;

/** A run that no worker could carry out. */
export interface DeadRun {
  id: string;
  customer?: string | undefined;
  kind: "task" | "code";
  reason: string;
  at: Date;
}

/** How many runs are where. */
export interface QueueCounts {
  waiting: number;
  running: number;
  dead: number;
  /** Workers that are connected. */
  workers: number;
}

/** The runs that wait for workers. */
export interface RunQueue {
  /**
   * An agent whose runs are carried out by workers. It asks a local agent for all else: for tools, skills and checkpoints.
   *
   * @param local - Is disposed with the agent.
   */
  agent(local: Agent, customer?: QueuedCustomer): Agent;
  /**
   * Has a run carried out.
   *
   * @throws CemError `QUEUE_FULL` with `details.retryAfterMs`, `QUEUE_KEY_REUSED`, `STORE_UNAVAILABLE`, or why a worker
   *   can't carry it out.
   */
  execute(run: AskedRun, options?: QueuedOptions): Promise<TaskResult>;
  /**
   * Goes on with a run that another host began with this `rejoin.key`, and without an `idempotencyKey`.
   *
   * @returns `undefined` where there is no such run of the customer, or no longer.
   * @throws CemError `STORE_UNAVAILABLE`, or as `execute` does.
   */
  rejoin(key: string, customer?: string, options?: RejoinOptions): Promise<TaskResult | undefined>;
  counts(): Promise<QueueCounts>;
  /** The newest runs that no worker could carry out, at most 1,000. They are kept for a week. */
  dead(): Promise<DeadRun[]>;
  /**
   * Puts a dead run into the queue again. Its calls still count: it is repeated only where that does no harm.
   *
   * @returns whether there was such a run.
   */
  retry(id: string): Promise<boolean>;
  /**
   * Removes the runs of a customer who was deleted: those that wait end with `CUSTOMER_GONE`, and nothing is kept of those
   * that are over. Workers end what is under way.
   */
  removeCustomer(customer: string): Promise<void>;
  /** Frees the connections. Runs go on. */
  close(): Promise<void>;
}
