import {
  toErrorInfo,
  type KillReason,
  type Isolation,
  type RunLimits,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
} from "@cem/core";
import { compileForGuest } from "./compile-for-guest.ts";
import type { ConnectedGuest } from "./connected-guest.ts";
import type { FairGate } from "./fair-gate.ts";
import { GuestPool, type GuestPoolStats } from "./guest-pool.ts";
import type { Guest } from "./guest.ts";
import { resolveLimits } from "./run-limits.ts";
import { emptyReport } from "./run-report.ts";
import { RunSession } from "./run-session.ts";

const DEFAULT_STANDBY = 2;
const DISPOSED = "The sandbox was disposed of.";
const DEFAULT_IDLE_MS = 300_000;

/** Why a run can't be let through right now. */
export interface RunRefusal {
  code: string;
  message: string;
}

export interface GuestSandboxSettings {
  isolation: Isolation;
  /** Limits of every run that doesn't bring its own. */
  limits?: Partial<RunLimits> | undefined;
  /** Starts one guest. */
  startGuest(): Promise<Guest> | Guest;
  /** A guest that has booted already and is the first to be used. */
  firstGuest?: ConnectedGuest | undefined;
  /** Looks at the workspace before each run; a refusal becomes the run's outcome. */
  checkWorkspace?: (() => Promise<RunRefusal | undefined>) | undefined;
  /** Bounds the runs at once, over all sandboxes that share it. */
  gate: FairGate;
  /** Booted guests that wait for a run. Default 2. */
  standby?: number | undefined;
  /** Without a run for so long the waiting guests are let go, in milliseconds. Default 300,000. */
  idleMs?: number | undefined;
  /** Frees what belongs to the sandbox besides its guests. */
  cleanUp?: (() => Promise<void>) | undefined;
}

/** A sandbox whose state can be looked at. */
export interface GuestSandbox extends Sandbox {
  stats(): GuestPoolStats & { running: number; queued: number };
}

/** Makes a sandbox out of a way to start guests. The guests boot right away. */
export function createGuestSandbox(settings: GuestSandboxSettings): GuestSandbox {
  return new PooledSandbox(settings);
}

class PooledSandbox implements GuestSandbox {
  readonly isolation: Isolation;
  readonly #settings: GuestSandboxSettings;
  readonly #pool: GuestPool;
  readonly #disposal = new AbortController();
  #running = 0;
  #queued = 0;
  #disposed: Promise<void> | undefined;

  constructor(settings: GuestSandboxSettings) {
    this.#settings = settings;
    this.isolation = settings.isolation;
    this.#pool = new GuestPool({
      start: () => settings.startGuest(),
      standby: settings.standby ?? DEFAULT_STANDBY,
      idleMs: settings.idleMs ?? DEFAULT_IDLE_MS,
    });
    if (settings.firstGuest === undefined) this.#pool.refill();
    else this.#pool.adopt(settings.firstGuest);
  }

  stats(): GuestPoolStats & { running: number; queued: number } {
    return { ...this.#pool.stats(), running: this.#running, queued: this.#queued };
  }

  async run(request: RunRequest): Promise<RunOutcome> {
    const startedAt = performance.now();
    const limits = resolveLimits(this.#settings.limits, request.limits);
    const report = () => emptyReport(this.isolation, startedAt);
    const ended = (reason: KillReason, message: string): RunOutcome => {
      if (this.#disposal.signal.aborted)
        return { ...report(), status: "killed", reason: "disposed", message: DISPOSED };
      return { ...report(), status: "killed", reason, message };
    };
    const program = await compileForGuest(request.code);
    if ("error" in program) return { ...report(), status: "failed", kind: "syntax", error: program.error };
    const leave = await this.#enter(request.signal);
    if (leave === undefined) return ended("aborted", "The run was aborted before it started.");
    this.#running += 1;
    try {
      const refusal = await this.#settings.checkWorkspace?.();
      if (refusal !== undefined) return { ...report(), status: "refused", ...refusal };
      const connected = await this.#pool.take().catch((error: unknown) => toErrorInfo(error));
      if ("message" in connected) return ended("crashed", connected.message);
      const { isolation } = this;
      const disposed = this.#disposal.signal;
      const session = { connected, ...program, limits, isolation, request, startedAt, disposed };
      return await new RunSession(session).run();
    } finally {
      this.#running -= 1;
      leave();
      // Later than whatever the outcome leads to at once, such as the end of the sandbox.
      setImmediate(() => this.#pool.refill());
    }
  }

  /** Waits for a turn; `undefined` when the run was aborted or the sandbox disposed of before. */
  async #enter(signal: AbortSignal | undefined): Promise<(() => void) | undefined> {
    const disposed = this.#disposal.signal;
    this.#queued += 1;
    try {
      return await this.#settings.gate.enter(
        this,
        signal === undefined ? disposed : AbortSignal.any([disposed, signal]),
      );
    } catch {
      return undefined;
    } finally {
      this.#queued -= 1;
    }
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  async #end(): Promise<void> {
    this.#disposal.abort();
    await this.#pool.dispose();
    await this.#settings.cleanUp?.();
  }
}
