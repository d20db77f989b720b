import type { RunStop } from "@cem/core";
import { QUOTA_PERIODS } from "./customer-usage.ts";
import type { CustomerQuota, QuotaPeriod, StoredUsage } from "./customer-usage.ts";

const MS_PER_SECOND = 1_000;
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
/** Time that is paid for before it is used, so that runs of several processes together stay below a quota. */
const SLICE_MS = 1_000;

/** What one run has paid for. */
export interface RunCharge {
  paidMs: number;
  /** In which periods, by their beginning: what is left over goes back into those only. */
  periods: Map<QuotaPeriod, number>;
}

/** What a customer has used of a quota. */
export interface QuotaUsage {
  per: QuotaPeriod;
  runs: number;
  maxRuns?: number | undefined;
  seconds: number;
  maxSeconds?: number | undefined;
  /** Until the period is over and all is free again, in milliseconds. `undefined` before its first run. */
  resetsInMs?: number | undefined;
}

/** Charges a run that begins. */
export function chargeRun(usage: StoredUsage, quotas: readonly CustomerQuota[]): RunCharge | RunStop {
  for (const quota of quotas) {
    const used = quotaUsage(usage, quota);
    if (used.maxRuns !== undefined && used.runs >= used.maxRuns)
      return usedUp(used, "runs", "Nothing was run.");
  }
  const charge: RunCharge = { paidMs: 0, periods: new Map() };
  const stop = chargeTime(usage, quotas, charge, "Nothing was run.");
  if (stop !== undefined) return stop;
  for (const { per } of quotas) periodOf(usage, per).runs += 1;
  return charge;
}

/**
 * Charges the next slice of a run's time.
 *
 * @param outcome - What becomes of the run where there is none.
 */
export function chargeTime(
  usage: StoredUsage,
  quotas: readonly CustomerQuota[],
  charge: RunCharge,
  outcome: string,
): RunStop | undefined {
  let slice = Infinity;
  for (const quota of quotas) {
    if (quota.seconds === undefined) continue;
    const used = quotaUsage(usage, quota);
    const leftMs = quota.seconds * MS_PER_SECOND - used.seconds * MS_PER_SECOND;
    if (leftMs < 1) return usedUp(used, "seconds", outcome);
    slice = Math.min(slice, SLICE_MS, leftMs);
  }
  if (slice === Infinity) {
    for (const { per } of quotas) periodOf(usage, per);
    return undefined;
  }
  charge.paidMs += slice;
  addTime(usage, quotas, charge, slice);
  return undefined;
}

/** Charges what a run has used beyond what it paid, or gives back what is left over. */
export function settleRun(
  usage: StoredUsage,
  quotas: readonly CustomerQuota[],
  charge: RunCharge,
  spentMs: number,
): void {
  const missingMs = spentMs - charge.paidMs;
  if (missingMs > 0) return addTime(usage, quotas, charge, missingMs);
  for (const [per, startedMs] of charge.periods) {
    const period = usage.periods[per];
    if (period?.startedMs === startedMs) period.ranMs = Math.max(0, period.ranMs + missingMs);
  }
}

/** Counts a run that is charged afterwards, where no quota has seconds, so that its time can be shown. */
function addTime(usage: StoredUsage, quotas: readonly CustomerQuota[], charge: RunCharge, ms: number): void {
  for (const { per } of quotas) {
    const period = periodOf(usage, per);
    period.ranMs += ms;
    charge.periods.set(per, period.startedMs);
  }
}

/** What was used of a quota so far. */
export function quotaUsage(
  { time, periods }: StoredUsage,
  { per, runs, seconds }: CustomerQuota,
): QuotaUsage {
  const period = periods[per];
  return {
    per,
    runs: period?.runs ?? 0,
    maxRuns: runs,
    seconds: (period?.ranMs ?? 0) / MS_PER_SECOND,
    maxSeconds: seconds,
    resetsInMs: period && Math.max(0, period.startedMs + QUOTA_PERIODS[per] - time.nowMs),
  };
}

function periodOf(usage: StoredUsage, per: QuotaPeriod): { startedMs: number; runs: number; ranMs: number } {
  return (usage.periods[per] ??= { startedMs: usage.time.nowMs, runs: 0, ranMs: 0 });
}

function usedUp(used: QuotaUsage, what: "runs" | "seconds", outcome: string): RunStop {
  const retryAfterMs = Math.ceil(used.resetsInMs ?? 0);
  const how =
    what === "runs"
      ? `${used.runs} of ${used.maxRuns} runs`
      : `${round(used.seconds)} of ${used.maxSeconds} seconds of runs`;
  return {
    code: "QUOTA_EXCEEDED",
    message: `The customer has used ${how} per ${used.per}. ${outcome} They are free again in ${duration(retryAfterMs)}.`,
    details: { ...used, quota: what, retryAfterMs },
  };
}

function round(seconds: number): number {
  return Math.round(seconds * 10) / 10;
}

/** A time to wait, rounded up. */
function duration(ms: number): string {
  if (ms < MS_PER_MINUTE) return `${Math.max(1, Math.ceil(ms / MS_PER_SECOND))} s`;
  if (ms < 2 * MS_PER_HOUR) return `${Math.ceil(ms / MS_PER_MINUTE)} min`;
  return `${Math.ceil(ms / MS_PER_HOUR)} h`;
}
