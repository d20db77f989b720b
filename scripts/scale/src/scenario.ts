import type { RunCost } from "./measured.ts";

/** Parameters of a simulation. Times are milliseconds of the simulated clock where no other unit is named. */
export interface Scenario {
  workers: number;
  /** Runs that one worker executes at once. */
  slots: number;
  customers: number;
  /** Runs that customers would start in a second if none had to wait. */
  runsPerSecond: number;
  seconds: number;
  /** Seconds at the beginning that no figure counts. */
  settleSeconds: number;
  seed: number;
  warm: RunCost;
  cold: RunCost;
  idleRedisCpuMsPerSecond: number;
  /** Customers in turn, or first come, first served. */
  isFair: boolean;
  /** A run goes to the worker that has its session's guest, where that has a slot free. */
  isRouted: boolean;
  maxWaiting: number;
  /** Guests of sessions that a worker keeps. */
  keptGuests: number;
  /** One customer puts in so many runs a second, beside all others. */
  flood?: { fromSecond: number; toSecond: number; runsPerSecond: number } | undefined;
  /** Workers that die in an hour, of each one. */
  deathsPerWorkerHour?: number | undefined;
  autoscaling?: Autoscaling | undefined;
  /** From this second on so many times as many sessions start. */
  surge?: { fromSecond: number; toSecond: number; times: number } | undefined;
}

/** A horizontal autoscaler's rule. */
export interface Autoscaling {
  counts: "waiting" | "waiting and running";
  runsPerWorker: number;
  least: number;
  most: number;
}

/** Classes of customers by how much they run. */
export const CLASSES = ["light", "regular", "heavy", "flooding"] as const;
export type CustomerClass = (typeof CLASSES)[number];

/** Assumptions of the model about agents and machines; nobody measured them. */
export const ASSUMED = {
  /** Runs of one session, geometric. */
  runsPerSession: 6,
  /** Between an answer and the session's next run, exponential: the model thinks. */
  thinkMs: 8_000,
  /** Sessions that a customer starts at once, geometric. */
  sessionsPerBurst: 2,
  /** The time that a run waits for its tools, log-normal. */
  toolMedianMs: 250,
  toolSigma: 1,
  /** Sessions of the customer who floods. */
  floodSessions: 16,
  /** Part of the runs that have called what can't be repeated when their worker dies. */
  unrepeatable: 0.3,
  lostAfterMs: 8_000,
  /** Until a worker that died, or is added, takes runs. */
  startMs: 20_000,
  scaleEveryMs: 15_000,
  scaleDownAfterMs: 300_000,
  guestIdleMs: 300_000,
} as const;
