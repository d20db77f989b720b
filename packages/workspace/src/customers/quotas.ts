import { hash } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { CemError, createTurns, MS_PER_SECOND, parseJson, updateStored, writeFailure } from "@cem/core";
import type { RunStop, Store, StoreKey } from "@cem/core";
import { ignoreMissing, openHandle, PRIVATE_FOLDER, replaceFile } from "@cem/core/files";
import { withLock } from "../files/file-lock.ts";

/** The lengths of quota periods, in milliseconds. */
const QUOTA_PERIODS = { minute: 60_000, hour: 3_600_000, day: 86_400_000, week: 604_800_000 } as const;

/** The name of a quota period. */
export type QuotaPeriod = keyof typeof QUOTA_PERIODS;

/** The runs and seconds allowed in one period, which begins with the first run in it. */
export interface CustomerQuota {
  per: QuotaPeriod;
  runs?: number | undefined;
  seconds?: number | undefined;
}

/** The use of one quota. */
export interface QuotaUsage {
  per: QuotaPeriod;
  runs: number;
  maxRuns?: number | undefined;
  seconds: number;
  maxSeconds?: number | undefined;
  /** Time until the period ends and the quota is reset, in milliseconds. `undefined` before its first run. */
  resetsInMs?: number | undefined;
}

interface UsedPeriod {
  /** On the clock of the usage's storage. */
  startedMs: number;
  runs: number;
  ranMs: number;
}

/** The usage of all current periods. */
export interface Usage {
  nowMs: number;
  periods: Partial<Record<QuotaPeriod, UsedPeriod>>;
  /** Short digests of charged runs that are under way or were interrupted, the newest last. */
  begun: string[];
}

/** Stores the usage of one owner across processes. Usage outlives a deleted owner until its periods end. */
export interface UsageKeeper {
  read(): Promise<Usage>;
  /** Changes the usage in place, one process after another. */
  update<Result>(change: (usage: Usage) => Result): Promise<Result>;
}

/** The folder next to those of owners. No owner's id begins with a dot. */
const FOLDER = ".quotas";
const USAGE = "The usage of quotas";
const MS_PER_MINUTE = 60_000;
const MS_PER_HOUR = 3_600_000;
/** Maximum number of interrupted runs per customer that are recognized when they are repeated. */
const MAX_BEGUN = 100;
const RUN_DIGEST_CHARACTERS = 16;
/** Time that is charged in advance, so that runs of several processes together stay within a quota. */
const SLICE_MS = 1_000;

/** A digest of an owner for places that must not identify a deleted one. */
export function digestOf(id: string): string {
  return hash("sha256", id);
}

/** Stores usage in a file next to the owners' folders, where code can't reach it. */
export function createUsageFile(home: string): UsageKeeper {
  const id = path.basename(home);
  const folder = path.join(path.dirname(home), FOLDER);
  const file = path.join(folder, `${digestOf(id)}.json`);
  const read = async (): Promise<Usage> =>
    parseUsage(await readFile(file, "utf8").catch(ignoreMissing).catch(refuse(USAGE)), Date.now());
  return {
    read,
    update: (change) =>
      withLock(file, `the usage of the customer ${id}`, async () => {
        const usage = await read();
        const result = change(usage);
        await makeCustomersFolder(folder, USAGE);
        await writeUsage(file, formatUsage(usage));
        return result;
      }),
  };
}

/** @returns A function that throws `DISK_FULL` or `NOT_WRITABLE`: the system's own messages name files of the host. */
function refuse(what: string): (error: unknown) => never {
  return (error) => {
    throw writeFailure(error, what, "the file system of the customers' folders (customers.dir)");
  };
}

/**
 * Makes a folder below that of the customers. Not recursively, which would hide the reason of a read-only file system.
 *
 * @returns whether it was missing.
 * @throws CemError `DISK_FULL` or `NOT_WRITABLE`
 */
export async function makeCustomersFolder(folder: string, what: string): Promise<boolean> {
  try {
    await mkdir(folder, PRIVATE_FOLDER);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") refuse(what)(error);
    return false;
  }
}

/** @throws CemError `DISK_FULL` or `NOT_WRITABLE` */
async function writeUsage(file: string, text: string): Promise<void> {
  try {
    await replaceFile(file, text).catch(refuse(USAGE));
  } catch (failure) {
    if (!CemError.isInstance(failure) || failure.code !== "DISK_FULL") throw failure;
    // Overwriting needs no room: on a disk that is full, a run must still be able to delete files.
    await overwrite(file, text).catch(() => {
      throw failure;
    });
  }
}

async function overwrite(file: string, text: string): Promise<void> {
  await using handle = await openHandle(file, "r+");
  const { size } = await handle.stat();
  await handle.write(text.padEnd(size), 0);
}

/** Removes the files of usage whose periods have ended. */
export async function removeEndedUsage(root: string): Promise<void> {
  const folder = path.join(root, FOLDER);
  for (const name of await readdir(folder).catch(() => [])) {
    const file = path.join(folder, name);
    const { periods } = parseUsage(await readFile(file, "utf8").catch(ignoreMissing), Date.now());
    if (Object.keys(periods).length === 0) await rm(file, { force: true });
  }
}

/** Stores usage in a store across all machines, by the store's clock. */
export function createSharedUsage(store: Store, id: string): UsageKeeper {
  const key = usageKey(id);
  /** Serializes updates of one process, which would otherwise conflict. */
  const inTurn = createTurns();
  return {
    async read() {
      const [found, nowMs] = await Promise.all([store.read(key), store.now()]);
      return parseShared(found?.value, nowMs);
    },
    update: (change) =>
      inTurn(async () => {
        const nowMs = await store.now();
        return updateStored(store, key, (found) => {
          const usage = parseShared(found, nowMs);
          const result = change(usage);
          const value = Buffer.from(formatUsage(usage));
          return { value, result, expiresInMs: QUOTA_PERIODS.week };
        });
      }),
  };
}

/** Removes shared usage that nobody can read, which would refuse whoever comes with the id of a deleted customer. */
export async function removeSealedUsage(store: Store, id: string): Promise<void> {
  const usage = await ifUnsealed(createSharedUsage(store, id).read());
  if (usage === undefined) await store.remove(usageKey(id));
}

/** The result, or `undefined` for a value that can't be opened: a customer can be listed and deleted without it. */
export async function ifUnsealed<Result>(reading: Promise<Result>): Promise<Result | undefined> {
  return reading.catch((error: unknown) => {
    if (CemError.isInstance(error) && error.code === "STORE_SEALED") return undefined;
    throw error;
  });
}

function usageKey(id: string): StoreKey {
  return ["quotas", digestOf(id)];
}

/** @throws CemError `STORE_SEALED` for what can't be read, since counting from 0 would give a used quota again. */
function parseShared(found: Uint8Array | undefined, nowMs: number): Usage {
  if (found === undefined || parseJson(found) !== undefined) return parseUsage(found, nowMs);
  throw new CemError("STORE_SEALED", `${USAGE} can't be read: it is sealed, and no key was given.`);
}

function formatUsage({ periods, begun }: Usage): string {
  return JSON.stringify({ ...periods, ...(begun.length > 0 && { begun }) });
}

/** Parses the current periods. Files are replaced atomically, so unparsable content was not written by this code. */
function parseUsage(text: string | Uint8Array | undefined, nowMs: number): Usage {
  const periods: Usage["periods"] = {};
  const stored = parseJson(text ?? "{}") as (Usage["periods"] & Partial<Usage>) | null | undefined;
  for (const [per, lengthMs] of Object.entries(QUOTA_PERIODS) as [QuotaPeriod, number][]) {
    const period = stored?.[per];
    if (period === undefined || ![period.startedMs, period.runs, period.ranMs].every(Number.isFinite))
      continue;
    // A clock that was set back must not extend a period.
    const startedMs = Math.min(period.startedMs, nowMs);
    if (nowMs < startedMs + lengthMs) periods[per] = { ...period, startedMs };
  }
  return { nowMs, periods, begun: Array.isArray(stored?.begun) ? stored.begun : [] };
}

/** The slices charged to one run. */
export interface RunCharge {
  paidMs: number;
  /** The charged periods by their start. A refund only goes to these. */
  periods: Map<QuotaPeriod, number>;
  /** The short digest of the run's id. */
  run: string | undefined;
}

/**
 * Charges a starting run. One that is repeated has been charged, and has possibly called tools.
 *
 * @param outcome - The outcome of one that is not repeated, if it is refused.
 */
export function chargeRun(
  usage: Usage,
  quotas: readonly CustomerQuota[],
  id?: string,
  outcome: string = NOT_BEGUN,
): RunCharge | RunStop {
  const run = id && digestOf(id).slice(0, RUN_DIGEST_CHARACTERS);
  const isRepeated = run !== undefined && usage.begun.includes(run);
  for (const quota of isRepeated ? [] : quotas) {
    const used = quotaUsage(usage, quota);
    if (used.maxRuns !== undefined && used.runs >= used.maxRuns) return usedUp(used, "runs", outcome);
  }
  const charge: RunCharge = { paidMs: 0, periods: new Map(), run };
  const stop = chargeTime(usage, quotas, charge, isRepeated ? STOPPED : outcome);
  if (stop !== undefined) return stop;
  if (isRepeated) return charge;
  for (const { per } of quotas) periodOf(usage, per).runs += 1;
  if (run !== undefined) usage.begun = [...usage.begun, run].slice(-MAX_BEGUN);
  return charge;
}

/** The outcomes of a run that is refused, and of one that is ended. */
export const NOT_BEGUN = "Nothing was run.";
export const STOPPED = "The run was stopped.";

/** @param outcome - The outcome of the run if nothing is left, as a sentence. */
export function chargeTime(
  usage: Usage,
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
  if (slice === Infinity) return undefined;
  charge.paidMs += slice;
  addTime(usage, quotas, charge, slice);
  return undefined;
}

/** Charges the time that a run used beyond its slices, or refunds the rest. An interrupted run may be repeated. */
export function settleRun(
  usage: Usage,
  quotas: readonly CustomerQuota[],
  charge: RunCharge,
  { spentMs, isInterrupted }: { spentMs: number; isInterrupted: boolean },
): void {
  if (!isInterrupted) usage.begun = usage.begun.filter((run) => run !== charge.run);
  const missingMs = spentMs - charge.paidMs;
  if (missingMs > 0) return addTime(usage, quotas, charge, missingMs);
  for (const [per, startedMs] of charge.periods) {
    const period = usage.periods[per];
    if (period?.startedMs === startedMs) period.ranMs = Math.max(0, period.ranMs + missingMs);
  }
}

function addTime(usage: Usage, quotas: readonly CustomerQuota[], charge: RunCharge, ms: number): void {
  for (const { per } of quotas) {
    const period = periodOf(usage, per);
    period.ranMs += ms;
    charge.periods.set(per, period.startedMs);
  }
}

export function quotaUsage({ nowMs, periods }: Usage, { per, runs, seconds }: CustomerQuota): QuotaUsage {
  const period = periods[per];
  return {
    per,
    runs: period?.runs ?? 0,
    maxRuns: runs,
    seconds: (period?.ranMs ?? 0) / MS_PER_SECOND,
    maxSeconds: seconds,
    resetsInMs: period && Math.max(0, period.startedMs + QUOTA_PERIODS[per] - nowMs),
  };
}

function periodOf(usage: Usage, per: QuotaPeriod): UsedPeriod {
  return (usage.periods[per] ??= { startedMs: usage.nowMs, runs: 0, ranMs: 0 });
}

function usedUp(used: QuotaUsage, quota: "runs" | "seconds", outcome: string): RunStop {
  const retryAfterMs = Math.ceil(used.resetsInMs ?? 0);
  const how =
    quota === "runs"
      ? `${used.runs} of ${used.maxRuns} runs`
      : `${Math.round(used.seconds * 10) / 10} of ${used.maxSeconds} seconds of runs`;
  return {
    code: "QUOTA_EXCEEDED",
    message: `${how} per ${used.per} are used up. ${outcome} They are free again in ${waitOf(retryAfterMs)}.`,
    details: { ...used, quota, retryAfterMs },
  };
}

/** A time to wait, rounded up. */
function waitOf(ms: number): string {
  if (ms < MS_PER_MINUTE) return `${Math.max(1, Math.ceil(ms / MS_PER_SECOND))} s`;
  if (ms < 2 * MS_PER_HOUR) return `${Math.ceil(ms / MS_PER_MINUTE)} min`;
  return `${Math.ceil(ms / MS_PER_HOUR)} h`;
}
