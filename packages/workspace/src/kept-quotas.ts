import { createHash } from "node:crypto";
import { mkdir, readdir, rm } from "node:fs/promises";
import path from "node:path";
import { readUsage, saveUsage, updateUsage } from "./customer-usage.ts";
import type { QuotaPeriod, StoredUsage, UsedPeriod } from "./customer-usage.ts";
import type { MachineClock } from "./steady-clock.ts";

/** The folder beside those of customers. No customer's id begins so. */
const FOLDER = ".quotas";
const PRIVATE = 0o700;

/** The part of a use that outlives its customer: what was used in periods under way. `undefined` where there is none. */
export function usedQuotas({ time, periods }: StoredUsage): StoredUsage | undefined {
  const { nowMs, wallMs, machines } = time;
  if (Object.keys(periods).length === 0) return undefined;
  return { version: 1, time: { nowMs, wallMs, machines }, lastUsedMs: 0, periods };
}

/** Names a customer who was deleted without telling who it was. */
export function digestOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}

/**
 * Keeps what a customer who is being deleted has used of its quotas until the periods end: who comes back with the same id
 * goes on with it.
 */
export async function keepQuotas(
  root: string,
  id: string,
  { home, clock }: { home: string; clock: MachineClock },
): Promise<void> {
  await removeEnded(root, clock);
  const usage = await readUsage(home, clock);
  const used = usage && usedQuotas(usage);
  if (used === undefined) return;
  const folder = path.join(root, FOLDER, digestOf(id));
  await mkdir(folder, { recursive: true, mode: PRIVATE });
  await saveUsage(folder, used);
}

/** Gives a new folder of a customer what was used of its quotas before the customer was deleted. */
export async function restoreQuotas(
  root: string,
  id: string,
  { home, clock }: { home: string; clock: MachineClock },
): Promise<void> {
  const kept = await readUsage(path.join(root, FOLDER, digestOf(id)), clock);
  if (kept === undefined || usedQuotas(kept) === undefined) return;
  await updateUsage(
    home,
    (usage) => {
      for (const [per, { startedMs, runs, ranMs }] of Object.entries(kept.periods) as [
        QuotaPeriod,
        UsedPeriod,
      ][]) {
        const own = usage.periods[per] ?? { runs: 0, ranMs: 0 };
        const agoMs = kept.time.nowMs - startedMs;
        usage.periods[per] = {
          startedMs: usage.time.nowMs - agoMs,
          runs: own.runs + runs,
          ranMs: own.ranMs + ranMs,
        };
      }
    },
    clock,
  );
}

async function removeEnded(root: string, clock: MachineClock): Promise<void> {
  const names = await readdir(path.join(root, FOLDER)).catch(() => []);
  for (const name of names) {
    const folder = path.join(root, FOLDER, name);
    const kept = await readUsage(folder, clock);
    if (kept === undefined || usedQuotas(kept) === undefined)
      await rm(folder, { recursive: true, force: true });
  }
}
