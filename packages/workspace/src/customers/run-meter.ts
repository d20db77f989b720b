import path from "node:path";
import { CemError, toErrorInfo } from "@cem/core";
import type { MeteredRun, RunMeter, RunStop, RunTicket, Store } from "@cem/core";
import { chargeRun, chargeTime, createSharedUsage, createUsageFile, settleRun } from "./quotas.ts";
import type { OwnerQuota, RunCharge, Usage, UsageKeeper } from "./quotas.ts";
import { followOwner, goneStop, noteUse } from "./shared-owner.ts";

/** Between two looks at a run under way. */
const PERIOD_MS = 100;
/** Before what is paid is used up, the next slice is paid for. */
const AHEAD_MS = 300;
/** Between two notes that an owner is at work. */
const NOTE_PERIOD_MS = 600_000;

export interface RunMeterSettings {
  /** Absolute path of the owner's folder, which exists. */
  home: string;
  /** All of them hold. */
  quotas: readonly OwnerQuota[];
  /** The time of day in milliseconds, by which periods end without a store. Default: this machine's. */
  now?: (() => number) | undefined;
  /** Where machines share usage. Default: a file beside the owner's folder. */
  store?: Store | undefined;
}

/**
 * Creates the meter of an owner's runs. It charges runs and their time to the owner's quotas, together with other
 * processes of this machine, or of all machines with a store, and ends runs when the quotas are used up or the owner is
 * deleted. Time is paid for in slices before it is used, so a process that is killed loses one slice for each run at most,
 * and gains none.
 */
export function createRunMeter(settings: RunMeterSettings): RunMeter {
  return new OwnerMeter(settings);
}

class OwnerMeter implements RunMeter {
  readonly #home: string;
  readonly #quotas: readonly OwnerQuota[];
  readonly #store: Store | undefined;
  readonly #usage: UsageKeeper;
  /** Whether the owner's folder is the one that there was at the first run. */
  readonly isThere: () => Promise<boolean>;
  #notedAt: number;

  constructor({ home, quotas, now, store }: RunMeterSettings) {
    this.#home = home;
    this.#quotas = quotas;
    this.#store = store;
    // Without a store, opening the folder has just noted its use.
    this.#notedAt = store === undefined ? performance.now() : -Infinity;
    this.#usage =
      store === undefined ? createUsageFile(home, now) : createSharedUsage(store, path.basename(home));
    this.isThere = followOwner(home, store);
  }

  async check(): Promise<RunStop | undefined> {
    return this.#orStop("Nothing was run.", async () => {
      // Charged to a copy.
      const charge =
        this.#quotas.length === 0 ? undefined : chargeRun(await this.#usage.read(), this.#quotas);
      return charge !== undefined && "code" in charge ? charge : undefined;
    });
  }

  async admit(): Promise<RunTicket | RunStop> {
    const charge = await this.#orStop("Nothing was run.", async () => {
      await this.#noteSoon();
      return this.#quotas.length === 0
        ? undefined
        : this.#usage.update((usage: Usage) => chargeRun(usage, this.#quotas));
    });
    return charge !== undefined && "code" in charge ? charge : new Ticket(this, charge);
  }

  /** Pays for the next slice of a run's time. */
  async renew(charge: RunCharge): Promise<RunStop | undefined> {
    const outcome = "The run was stopped.";
    return this.#orStop(outcome, () =>
      this.#usage.update((usage) => chargeTime(usage, this.#quotas, charge, outcome)),
    );
  }

  async settle(charge: RunCharge, spentMs: number): Promise<void> {
    // A charge that can't be settled stays as it is.
    await this.#usage.update((usage) => settleRun(usage, this.#quotas, charge, spentMs)).catch(() => {});
  }

  get hasSeconds(): boolean {
    return this.#quotas.some(({ seconds }) => seconds !== undefined);
  }

  gone(outcome: string): RunStop {
    return goneStop(path.basename(this.#home), outcome);
  }

  /** A run that can't be charged may not begin or go on. */
  async #orStop<Result>(outcome: string, work: () => Promise<Result>): Promise<Result | RunStop> {
    try {
      if (!(await this.isThere())) return this.gone(outcome);
      return await work();
    } catch (error) {
      if (!(await this.isThere().catch(() => true))) return this.gone(outcome);
      const { code, message } = toErrorInfo(error);
      const why = `The usage can't be noted: ${message}. ${outcome}`;
      return { code: CemError.isInstance(error) ? code : "WORKSPACE_UNUSABLE", message: why };
    }
  }

  async #noteSoon(): Promise<void> {
    if (performance.now() - this.#notedAt < NOTE_PERIOD_MS) return;
    this.#notedAt = performance.now();
    await noteUse(this.#home, this.#store);
  }
}

class Ticket implements RunTicket {
  readonly #meter: OwnerMeter;
  readonly #charge: RunCharge | undefined;
  #run: MeteredRun | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> | undefined;
  #isSettled = false;
  /** Why there is no further slice. The run goes on for what is paid. */
  #last: RunStop | undefined;

  constructor(meter: OwnerMeter, charge: RunCharge | undefined) {
    this.#meter = meter;
    this.#charge = charge;
  }

  watch(run: MeteredRun): void {
    this.#run = run;
    this.#lookLater(run, PERIOD_MS);
  }

  async settle(): Promise<void> {
    this.#isSettled = true;
    clearTimeout(this.#timer);
    await this.#looking;
    if (this.#charge !== undefined) await this.#meter.settle(this.#charge, this.#run?.spentMs() ?? 0);
  }

  #lookLater(run: MeteredRun, delayMs: number): void {
    if (this.#isSettled) return;
    const leftMs = this.#isLimited ? this.#leftMs(run) : Infinity;
    this.#timer = setTimeout(
      () => {
        this.#looking = this.#look(run).finally(() => this.#lookLater(run, PERIOD_MS));
      },
      Math.max(1, Math.min(delayMs, leftMs)),
    );
  }

  get #isLimited(): boolean {
    return this.#charge !== undefined && this.#meter.hasSeconds;
  }

  #leftMs(run: MeteredRun): number {
    return (this.#charge?.paidMs ?? 0) - run.spentMs();
  }

  async #look(run: MeteredRun): Promise<void> {
    // Whether the owner is still there is asked again while the store can't say.
    if (!(await this.#meter.isThere().catch(() => true)))
      return run.stop(this.#meter.gone("The run was stopped."));
    if (!this.#isLimited || this.#charge === undefined) return;
    if (this.#last === undefined && this.#leftMs(run) < AHEAD_MS)
      this.#last = await this.#meter.renew(this.#charge);
    if (this.#last !== undefined && this.#leftMs(run) <= 0) run.stop(this.#last);
  }
}
