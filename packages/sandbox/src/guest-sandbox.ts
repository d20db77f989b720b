import {
  toErrorInfo,
  type ErrorInfo,
  type KillReason,
  type Isolation,
  type RunLimits,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type SandboxStats,
} from "@cem/core";
import { compileForGuest } from "./compile-for-guest.ts";
import type { ConnectedGuest } from "./connected-guest.ts";
import type { FairGate } from "./fair-gate.ts";
import { GuestPool, type Lease } from "./guest-pool.ts";
import type { Guest } from "./guest.ts";
import { resolveLimits } from "./run-limits.ts";
import { emptyReport } from "./run-report.ts";
import { RunSession } from "./run-session.ts";

const DEFAULT_STANDBY = 2;
const DISPOSED = "The sandbox was disposed of.";
const DEFAULT_IDLE_MS = 300_000;

/** Whether guests have one run each, or those of a session. */
export type SandboxReuse = "none" | "session";

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
  /** How many may wait after a time of many runs. Default: four times `standby`. */
  maxStandby?: number | undefined;
  /** `session`: runs that name the same session may share a guest, one after another. Default `none`. */
  reuse?: SandboxReuse | undefined;
  /** The session of runs that name none. Absent: such a run shares its guest with no other. */
  defaultSession?: string | undefined;
  /** How long a run may wait for its turn, in milliseconds. Default: as long as it takes. */
  queueTimeoutMs?: number | undefined;
  /** How long a guest may take to start, in milliseconds. Default 15,000. */
  startTimeoutMs?: number | undefined;
  /** How long a guest that has no run may take to say that it is well, in milliseconds. Default 2,000. */
  answerTimeoutMs?: number | undefined;
  /** Without a run for so long the waiting guests are let go, in milliseconds. Default 300,000. */
  idleMs?: number | undefined;
  /** Frees what belongs to the sandbox besides its guests. */
  cleanUp?: (() => Promise<void>) | undefined;
}

/** A sandbox whose state can be looked at. */
export interface GuestSandbox extends Sandbox {
  stats(): SandboxStats;
  /** Takes no new runs, lets those under way and those that wait come to their end, and then disposes of itself. */
  drain(): Promise<void>;
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
  #draining = false;
  #rested: PromiseWithResolvers<void> | undefined;

  constructor(settings: GuestSandboxSettings) {
    this.#settings = settings;
    this.isolation = settings.isolation;
    this.#pool = new GuestPool({
      start: () => settings.startGuest(),
      standby: settings.standby ?? DEFAULT_STANDBY,
      maxStandby: settings.maxStandby,
      startTimeoutMs: settings.startTimeoutMs,
      answerTimeoutMs: settings.answerTimeoutMs,
      idleMs: settings.idleMs ?? DEFAULT_IDLE_MS,
    });
    if (settings.firstGuest === undefined) this.#pool.refill();
    else this.#pool.adopt(settings.firstGuest);
  }

  stats(): SandboxStats {
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
    if (this.#draining) return ended("disposed", DISPOSED);
    const entered = await this.#enter(request);
    if (entered === "busy") return { ...report(), status: "refused", ...this.#busy() };
    if (entered === "gone") return ended("aborted", "The run was aborted before it started.");
    this.#running += 1;
    try {
      const refusal = await this.#settings.checkWorkspace?.();
      if (refusal !== undefined) return { ...report(), status: "refused", ...refusal };
      const lease = await this.#take(request);
      if ("message" in lease) return ended("crashed", lease.message);
      const { isolation } = this;
      const { connected, giveBack: takeBack } = lease;
      const disposed = this.#disposal.signal;
      const session = { connected, ...program, limits, isolation, request, startedAt, disposed, takeBack };
      return await new RunSession(session).run();
    } finally {
      this.#running -= 1;
      entered();
      this.#pool.refillSoon();
      this.#rest();
    }
  }

  #take({ session }: RunRequest): Promise<Lease | ErrorInfo> {
    const { reuse = "none", defaultSession } = this.#settings;
    return this.#pool.take(reuse === "session" ? (session ?? defaultSession) : undefined).catch(toErrorInfo);
  }

  #busy(): RunRefusal {
    const { queueTimeoutMs } = this.#settings;
    const message = `No guest was free within ${queueTimeoutMs} ms; ${this.#queued} more runs wait. Try again later.`;
    return { code: "SANDBOX_BUSY", message };
  }

  /** Waits for a turn; `gone` when the run was aborted or the sandbox disposed of before, `busy` when it took too long. */
  async #enter({ signal, session }: RunRequest): Promise<(() => void) | "gone" | "busy"> {
    const { gate, queueTimeoutMs } = this.#settings;
    const late = queueTimeoutMs === undefined ? undefined : AbortSignal.timeout(queueTimeoutMs);
    const signals = [this.#disposal.signal, signal, late].filter((one) => one !== undefined);
    this.#queued += 1;
    try {
      return await gate.enter(session ?? this, AbortSignal.any(signals));
    } catch {
      return late?.aborted === true && signal?.aborted !== true && !this.#disposal.signal.aborted
        ? "busy"
        : "gone";
    } finally {
      this.#queued -= 1;
    }
  }

  drain(): Promise<void> {
    this.#draining = true;
    this.#rested ??= Promise.withResolvers();
    this.#rest();
    return this.#rested.promise.then(() => this.dispose());
  }

  #rest(): void {
    if (this.#running === 0 && this.#queued === 0) this.#rested?.resolve();
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
