import { randomBytes } from "node:crypto";
import { lstat, open, readFile, rename, rm } from "node:fs/promises";
import path from "node:path";
import { withLock } from "./file-lock.ts";
import { advance, beginTime, thisMachine } from "./steady-clock.ts";
import type { MachineClock, SteadyTime } from "./steady-clock.ts";

/** The times that a quota may be for. */
export const QUOTA_PERIODS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

/** The name of one of {@link QUOTA_PERIODS}. */
export type QuotaPeriod = keyof typeof QUOTA_PERIODS;

/** What a customer may use in one period, which begins with the first run in it. */
export interface CustomerQuota {
  per: QuotaPeriod;
  runs?: number | undefined;
  seconds?: number | undefined;
}

/** What was used in a period under way. */
export interface UsedPeriod {
  /** On the file's own count of time. */
  startedMs: number;
  runs: number;
  ranMs: number;
}

/** What is kept of a customer's use. */
export interface StoredUsage {
  version: 1;
  time: SteadyTime;
  /** When the customer was last at work, on the file's own count of time. */
  lastUsedMs: number;
  periods: Partial<Record<QuotaPeriod, UsedPeriod>>;
}

/** Where what a customer has used is kept. */
export interface UsageKeeper {
  /** What the customer has used, up to this moment. `undefined` where nothing is kept. */
  read(): Promise<StoredUsage | undefined>;
  /**
   * Changes what is kept, one after another.
   *
   * @param change - Changes the usage in place.
   * @param options - With `isNew: false` nothing is kept where nothing was.
   */
  update<Result>(
    change: (usage: StoredUsage) => Result,
    options?: { isNew?: boolean | undefined },
  ): Promise<Result>;
}

/** The file beside the workspace, where code can't reach it. */
const USAGE_FILE = "usage.json";
const MAX_BYTES = 64 * 1024;

/** Reads what a customer has used, up to this moment. `undefined` where nothing is kept. */
export async function readUsage(home: string, clock: MachineClock): Promise<StoredUsage | undefined> {
  const stored = await readStored(home);
  return stored && advanced(stored, clock);
}

/** What a customer has used on this machine, in a file. */
export function createUsageFile(home: string, clock: MachineClock): UsageKeeper {
  return {
    read: () => readUsage(home, clock),
    update: (change) => updateUsage(home, change, clock),
  };
}

/**
 * Changes what is kept of a customer's use, one process after another.
 *
 * @param change - Changes the usage in place.
 * @throws the file system's error, `ENOENT` where the customer's folder is gone.
 */
export async function updateUsage<Result>(
  home: string,
  change: (usage: StoredUsage) => Result,
  clock: MachineClock = thisMachine,
): Promise<Result> {
  return withLock(home, `the usage of customer ${path.basename(home)}`, async () => {
    const stored = await readStored(home);
    const usage: StoredUsage =
      stored === undefined
        ? { version: 1, time: beginTime(clock), lastUsedMs: 0, periods: {} }
        : advanced(stored, clock);
    const result = change(usage);
    await saveUsage(home, usage);
    return result;
  });
}

function advanced(usage: StoredUsage, clock: MachineClock): StoredUsage {
  const time = advance(usage.time, clock);
  return { ...upToDate(usage, time.nowMs), time };
}

/** Brings the count of time up to date, which never goes back, and forgets periods that are over. */
export function upToDate(usage: StoredUsage, clockMs: number): StoredUsage {
  const nowMs = Math.max(usage.time.nowMs, clockMs);
  const periods: StoredUsage["periods"] = {};
  for (const [per, lengthMs] of Object.entries(QUOTA_PERIODS) as [QuotaPeriod, number][]) {
    const period = usage.periods[per];
    if (period !== undefined && nowMs < period.startedMs + lengthMs) periods[per] = { ...period };
  }
  return { ...usage, time: { ...usage.time, nowMs }, periods };
}

/**
 * Reads what is kept as it stands. What can't be read counts as nothing: files are replaced as a whole, so it was never
 * written by this.
 */
export async function readStored(home: string): Promise<StoredUsage | undefined> {
  const file = path.join(home, USAGE_FILE);
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_BYTES) return undefined;
  try {
    const usage = JSON.parse(await readFile(file, "utf8")) as StoredUsage;
    return usage.version === 1 && Number.isFinite(usage.time.nowMs) && typeof usage.periods === "object"
      ? usage
      : undefined;
  } catch {
    return undefined;
  }
}

/** Never makes the folder, so that nothing of a customer who was deleted comes back. */
export async function saveUsage(home: string, usage: StoredUsage): Promise<void> {
  const temporary = path.join(home, `.${USAGE_FILE}.${randomBytes(6).toString("hex")}.tmp`);
  try {
    await using file = await open(temporary, "wx", 0o600);
    await file.writeFile(JSON.stringify(usage));
    await rename(temporary, path.join(home, USAGE_FILE));
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
