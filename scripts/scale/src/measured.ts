import type { Summary } from "./statistics.ts";

/** The cost of one run: the processor time that it takes anywhere. */
export interface RunCost {
  /** Of the worker and its guests. */
  workerCpuMs: number;
  /** Of the copy of the server that waits for the run. */
  hostCpuMs: number;
  redisCpuMs: number;
  redisCommands: number;
}

/** How long real runs waited beyond what they did, with so many workers. */
export interface Observed extends Summary {
  workers: number;
}

/** The measurements of `calibrate.ts` on a machine. */
export interface Measured {
  machine: string;
  /** A run whose session has a guest. */
  warm: RunCost;
  /** A session's first run. */
  cold: RunCost;
  /** The cost of a waiting worker for Redis, in milliseconds of its processor in a second. */
  idleRedisCpuMsPerSecond: number;
  guestMiB: number;
  workerMiB: number;
  /** From the host's call to its answer, one at a time. */
  warmMs: number;
  coldMs: number;
  /** A run whose files are shared in PostgreSQL: a log of its session that changed. One at a time. */
  shared: { workerCpuMs: number; postgresCpuMs: number; postgresCommits: number };
  observed: Observed[];
}
