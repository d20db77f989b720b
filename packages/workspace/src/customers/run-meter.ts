import path from "node:path";
import { CemError, toErrorInfo } from "@cem/core";
import type { MeteredRun, RunMeter, RunStop, RunTicket, Store } from "@cem/core";
import { chargeRun, chargeTime, createSharedUsage, createUsageFile, settleRun } from "./quotas.ts";
import { NOT_BEGUN, STOPPED } from "./quotas.ts";
import type { CustomerQuota, RunCharge } from "./quotas.ts";
import { followCustomer, goneStop, noteUse } from "./shared-customer.ts";

/** Interval between two checks of a running run. */
const PERIOD_MS = 100;
/** How long before the end of a charged slice the next one is charged. */
const AHEAD_MS = 300;
/** Interval between two records of an owner's activity. */
const NOTE_PERIOD_MS = 600_000;

export interface RunMeterSettings {
  /** Absolute path of the owner's folder, which exists. */
  home: string;
  /** All of them apply. */
  quotas: readonly CustomerQuota[];
  /** The store in which machines share usage. Default: a file next to the owner's folder. */
  store?: Store | undefined;
}

/**
 * Creates the meter of an owner's runs. It charges runs and their time to the owner's quotas, together with other
 * processes of this machine, or of all machines with a store, and ends runs when the quotas are used up or the owner is
 * deleted. Time is charged in slices in advance, so a killed process loses at most one slice per run, and gains none.
 */
export function createRunMeter({ home, quotas, store }: RunMeterSettings): RunMeter {
  const id = path.basename(home);
  const usage = store === undefined ? createUsageFile(home) : createSharedUsage(store, id);
  const isThere = followCustomer(home, store);
  const hasSeconds = quotas.some(({ seconds }) => seconds !== undefined);
  /** The signals of runs, whose later programs must not say that nothing was run. */
  const begun = new WeakSet<AbortSignal>();
  // Without a store, opening the folder has just noted its use.
  let notedAt = store === undefined ? performance.now() : -Infinity;

  /** A run that can't be charged must not begin or continue. */
  async function orStop<Result>(outcome: string, work: () => Promise<Result>): Promise<Result | RunStop> {
    try {
      if (!(await isThere())) return goneStop(id, outcome);
      return await work();
    } catch (error) {
      if (!(await isThere().catch(() => true))) return goneStop(id, outcome);
      // An error of the system stays one, so that its message, which may name files, is not shown to clients.
      const { code, message } = toErrorInfo(error);
      return { code, message: `${message} ${outcome}` };
    }
  }

  async function noteSoon(): Promise<void> {
    if (performance.now() - notedAt < NOTE_PERIOD_MS) return;
    notedAt = performance.now();
    await noteUse(home, store);
  }

  function ticketOf(charge: RunCharge | undefined, signal: AbortSignal | undefined): RunTicket {
    /** The charge, if a quota limits time. */
    const limited = hasSeconds ? charge : undefined;
    let watched: MeteredRun | undefined;
    let timer: NodeJS.Timeout | undefined;
    let looking: Promise<void> | undefined;
    let isSettled = false;
    /** Why there is no further slice. The run continues for the charged time. */
    let last: RunStop | undefined;

    async function look(run: MeteredRun): Promise<void> {
      // While the store is unreachable, the owner counts as existing, and the check is repeated.
      if (!(await isThere().catch(() => true))) return run.stop(goneStop(id, STOPPED));
      if (limited === undefined) return;
      if (last === undefined && limited.paidMs - run.spentMs() < AHEAD_MS)
        last = await orStop(STOPPED, () =>
          usage.update((used) => chargeTime(used, quotas, limited, STOPPED)),
        );
      if (last !== undefined && limited.paidMs <= run.spentMs()) run.stop(last);
    }

    function lookLater(run: MeteredRun): void {
      if (isSettled) return;
      const leftMs = limited === undefined ? Infinity : limited.paidMs - run.spentMs();
      const next = (): void => void (looking = look(run).finally(() => lookLater(run)));
      timer = setTimeout(next, Math.max(1, Math.min(PERIOD_MS, leftMs)));
    }

    return {
      watch(run) {
        watched = run;
        lookLater(run);
      },
      async settle() {
        isSettled = true;
        clearTimeout(timer);
        await looking;
        if (charge === undefined) return;
        const spent = { spentMs: watched?.spentMs() ?? 0, isInterrupted: isInterrupted(signal) };
        // A charge that can't be settled is kept.
        await usage.update((used) => settleRun(used, quotas, charge, spent)).catch(() => {});
      },
    };
  }

  return {
    check: (run) =>
      orStop(NOT_BEGUN, async () => {
        // Charged to a copy.
        const charge = quotas.length === 0 ? undefined : chargeRun(await usage.read(), quotas, run);
        return charge !== undefined && "code" in charge ? charge : undefined;
      }),
    async admit({ run, signal } = {}) {
      const outcome = signal !== undefined && begun.has(signal) ? STOPPED : NOT_BEGUN;
      const charge = await orStop(outcome, async () => {
        await noteSoon();
        if (quotas.length === 0) return undefined;
        return usage.update((used) => chargeRun(used, quotas, run, outcome));
      });
      if (charge !== undefined && "code" in charge) return charge;
      if (signal !== undefined) begun.add(signal);
      return ticketOf(charge, signal);
    },
  };
}

/** Whether a run was ended in order to be repeated elsewhere. A caller that cancels and repeats it pays twice. */
function isInterrupted(signal: AbortSignal | undefined): boolean {
  const reason: unknown = signal?.reason;
  return CemError.isInstance(reason) && reason.details["isInterrupted"] === true;
}
