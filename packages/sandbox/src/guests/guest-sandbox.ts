import { availableParallelism } from "node:os";
import {
  toErrorInfo,
  type FairGate,
  type ErrorInfo,
  type Isolation,
  type RunLimits,
  type RunMeter,
  type RunOutcome,
  type RunRequest,
  type Sandbox,
  type SandboxStats,
} from "@cem/core";
import { compileForGuest } from "../runs/compile-for-guest.ts";
import type { ConnectedGuest } from "./connected-guest.ts";
import { GuestPool, type GuestPoolSettings, type Lease } from "./guest-pool.ts";
import type { Guest } from "./guest.ts";
import { resolveLimits } from "../runs/run-limits.ts";
import { emptyReport } from "../runs/run-report.ts";
import { RunSession } from "../runs/run-session.ts";
import type { WorkspaceQuota } from "../workspace/workspace-quota.ts";
import type { KillReason, RunRefusal } from "../runs/run-report.ts";

const DISPOSED = "The sandbox was disposed.";

/** `none`: each guest serves one run. `session`: a guest may serve several runs of one session. */
export type SandboxReuse = "none" | "session";

/** Settings of {@link createGuestSandbox}. */
export interface GuestSandboxSettings extends Omit<GuestPoolSettings, "start"> {
  /** Isolation of the guests, reported in every outcome. */
  isolation: Isolation;
  /** Limits of every run; a run's own limits override them. */
  limits?: Partial<RunLimits> | undefined;
  /** Starts one guest. The first message to it, `init`, has been written when it resolves. */
  startGuest(): Promise<Guest> | Guest;
  /** A guest that is already connected and serves the first run. */
  firstGuest?: ConnectedGuest | undefined;
  /** Checks the workspace before each run; a refusal becomes the run's outcome. */
  checkWorkspace?: (() => Promise<RunRefusal | undefined>) | undefined;
  /** Ends runs that take the workspace above its quota. */
  quota?: WorkspaceQuota | undefined;
  /** Owner of the runs, for fair queueing at the gate. */
  owner?: string | undefined;
  /** Meters the runs of the owner. */
  meter?: RunMeter | undefined;
  /** Whether the runs are parts of runs of another sandbox: they pass the gate, and no guest is started ahead of them. */
  nested?: boolean | undefined;
  /** Bounds concurrent runs over all sandboxes that share it. */
  gate: FairGate;
  /**
   * `session`: runs of the same session may share a guest, one after another. `none`: each run has one of its own.
   *
   * @defaultValue `session`
   */
  reuse?: SandboxReuse | undefined;
  /** The session of runs that name none. Absent: such a run shares its guest with no other. */
  defaultSession?: string | undefined;
  /** Timeout for a run's wait in the queue, in milliseconds. Absent: no timeout. */
  queueTimeoutMs?: number | undefined;
  /** Releases what the sandbox holds besides its guests, after the last of them has ended. */
  cleanUp?: (() => Promise<void>) | undefined;
}

/** A sandbox with a guest pool. */
export interface GuestSandbox extends Sandbox {
  /** Counts of runs and guests. */
  stats(): SandboxStats;
}

/**
 * Creates a sandbox from a function that starts guests. The first guests start right away.
 *
 * @example
 * ```ts
 * const sandbox = createGuestSandbox({
 *   isolation: { level: "permissions", sandbox: "mine", mechanisms: ["deno permissions"] },
 *   gate: new FairGate(4),
 *   startGuest: () => startMyGuest(),
 * });
 * ```
 */
export function createGuestSandbox(settings: GuestSandboxSettings): GuestSandbox {
  return new PooledSandbox(settings);
}

class PooledSandbox implements GuestSandbox {
  readonly isolation: Isolation;
  readonly loadsAhead = true;
  readonly #settings: GuestSandboxSettings;
  readonly #pool: GuestPool;
  readonly #disposal = new AbortController();
  readonly #processors = availableParallelism();
  #running = 0;
  #waiting = 0;
  #disposed: Promise<void> | undefined;

  constructor(settings: GuestSandboxSettings) {
    this.#settings = settings;
    this.isolation = settings.isolation;
    const { reuse, nested, standby, maxStandby, startTimeoutMs, healthTimeoutMs, keptGuests, idleMs } =
      settings;
    const ahead =
      nested === true
        ? { standby: 0, maxStandby: 0 }
        : { standby, maxStandby: maxStandby ?? (reuse === "none" ? undefined : 0) };
    this.#pool = new GuestPool({
      start: () => settings.startGuest(),
      ...ahead,
      startTimeoutMs,
      healthTimeoutMs,
      keptGuests,
      idleMs,
    });
    if (settings.firstGuest === undefined) this.#pool.refill();
    else this.#pool.adopt(settings.firstGuest);
  }

  stats(): SandboxStats {
    return { ...this.#pool.stats(), running: this.#running, waiting: this.#waiting };
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
    const program = await compileForGuest(request.code, request.signal);
    if ("error" in program) return { ...report(), status: "failed", kind: "syntax", error: program.error };
    const mayNotRun = (): RunOutcome => ended("aborted", "The program may not run.");
    // One that may not run is not metered. Where all processors are busy, nothing is gained by a guest that waits.
    const waits = this.#settings.meter !== undefined || this.#running >= this.#processors;
    if (waits && (await request.mayRun) === false) return mayNotRun();
    const entered = await this.#enter(request);
    if (entered === "busy") return { ...report(), status: "refused", ...this.#busy() };
    if (entered === "gone") return ended("aborted", "The run was aborted before it started.");
    this.#running += 1;
    let settle: (() => Promise<void>) | undefined;
    try {
      const { quota } = this.#settings;
      const refusal = (await quota?.check()) ?? (await this.#settings.checkWorkspace?.());
      if (refusal !== undefined) return { ...report(), status: "refused", ...refusal };
      const ticket = this.#settings.meter && (await this.#settings.meter.admit());
      if (ticket !== undefined && "code" in ticket) return { ...report(), status: "refused", ...ticket };
      if (ticket !== undefined) settle = () => ticket.settle();
      const lease = await this.#take(request);
      if ("message" in lease) return ended("crashed", lease.message);
      const { isolation } = this;
      const { connected, release } = lease;
      if ((await request.mayRun) === false) {
        if (release === undefined) connected.guest.kill();
        else release();
        return mayNotRun();
      }
      const disposed = this.#disposal.signal;
      const session = {
        connected,
        ...program,
        limits,
        isolation,
        request,
        startedAt: request.mayRun === undefined ? startedAt : performance.now(),
        disposed,
        release,
        quota,
        ticket,
      };
      return await new RunSession(session).run();
    } finally {
      if (settle !== undefined) await settle();
      this.#running -= 1;
      entered();
      this.#pool.refillSoon();
    }
  }

  #take({ session, singleUse = false, allowedTools }: RunRequest): Promise<Lease | ErrorInfo> {
    const { reuse = "session", defaultSession } = this.#settings;
    const isShared = reuse === "session" && !singleUse;
    const own = isShared ? (session ?? defaultSession) : undefined;
    // Traces that one run leaves behind in a process must not reach the tools of another.
    const part = allowedTools && JSON.stringify(allowedTools.toSorted());
    return this.#pool.take(own, part).catch(toErrorInfo);
  }

  #busy(): RunRefusal {
    const { queueTimeoutMs } = this.#settings;
    const message = `No guest was free within ${queueTimeoutMs} ms; ${this.#waiting} more runs wait.`;
    return { code: "SANDBOX_BUSY", message };
  }

  /** Enters at once where there is room, which is the rule. */
  #enter(request: RunRequest): Promise<(() => void) | "gone" | "busy"> | (() => void) | "gone" {
    if (request.signal?.aborted === true || this.#disposal.signal.aborted) return "gone";
    // A run that waited for its own part, behind others that do the same, would wait forever.
    if (this.#settings.nested === true) return () => {};
    return this.#settings.gate.tryEnter(this.#keyOf(request)) ?? this.#queue(request);
  }

  #keyOf({ session }: RunRequest): Parameters<FairGate["enter"]>[0] {
    return { owner: this.#settings.owner, session: session ?? this };
  }

  /** Waits in the queue; `gone` when the run was aborted or the sandbox disposed meanwhile, `busy` on timeout. */
  async #queue(request: RunRequest): Promise<(() => void) | "gone" | "busy"> {
    const { signal } = request;
    const { gate, queueTimeoutMs } = this.#settings;
    const late = queueTimeoutMs === undefined ? undefined : AbortSignal.timeout(queueTimeoutMs);
    const signals = [this.#disposal.signal, signal, late].filter((one) => one !== undefined);
    this.#waiting += 1;
    try {
      return await gate.enter(this.#keyOf(request), AbortSignal.any(signals));
    } catch {
      return late?.aborted === true && signal?.aborted !== true && !this.#disposal.signal.aborted
        ? "busy"
        : "gone";
    } finally {
      this.#waiting -= 1;
    }
  }

  endSession(session: string): void {
    this.#pool.endSession(session);
  }

  dispose(): Promise<void> {
    this.#disposed ??= this.#end();
    return this.#disposed;
  }

  async #end(): Promise<void> {
    this.#disposal.abort();
    this.#settings.quota?.dispose();
    await this.#pool.dispose();
    await this.#settings.cleanUp?.();
  }
}
