import { availableParallelism } from "node:os";
import {
  toErrorInfo,
  type FairGate,
  type ErrorInfo,
  type Isolation,
  type RunOutcome,
  type RunRequest,
  type RunTicket,
  type Sandbox,
  type SandboxSpec,
  type SandboxStats,
  type Slot,
} from "@cem/core";
import { compileForGuest } from "../runs/compile-for-guest.ts";
import type { ConnectedGuest } from "./connected-guest.ts";
import { createGuestPool, type GuestPoolSettings, type Lease } from "./guest-pool.ts";
import type { Guest } from "./guest.ts";
import { resolveLimits } from "../runs/run-limits.ts";
import { runOnGuest } from "../runs/run-on-guest.ts";
import type { KillReason } from "../runs/tool-bridge.ts";
import type { RunRefusal, WorkspaceQuota } from "../workspace/workspace-quota.ts";

const DISPOSED = "The sandbox was disposed.";

/** `none`: each guest serves one run. `session`: a guest may serve several runs of one session. */
export type SandboxReuse = "none" | "session";

/** Settings of {@link createGuestSandbox}. */
export interface GuestSandboxSettings
  extends
    Omit<GuestPoolSettings, "start">,
    Pick<SandboxSpec, "limits" | "owner" | "meter" | "nested" | "defaultSession"> {
  /** Isolation of the guests, reported in every outcome. */
  isolation: Isolation;
  /** Starts one guest. The first message to it, `init`, has been written when it resolves. */
  startGuest(): Promise<Guest> | Guest;
  /** A guest that is already connected and serves the first run. */
  firstGuest?: ConnectedGuest | undefined;
  /** Checks the workspace before each run; a refusal becomes the run's outcome. */
  checkWorkspace?: (() => Promise<RunRefusal | undefined>) | undefined;
  /** Ends runs that take the workspace above its quota. */
  quota?: WorkspaceQuota | undefined;
  /** Bounds concurrent runs over all sandboxes that share it. */
  gate: FairGate;
  /**
   * `session`: runs of the same session may share a guest, one after another. `none`: each run has one of its own.
   *
   * @defaultValue `session`
   */
  reuse?: SandboxReuse | undefined;
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
  const { isolation, gate, quota, meter, owner, queueTimeoutMs } = settings;
  const { nested = false, reuse = "session" } = settings;
  const ahead = nested
    ? { standby: 0, maxStandby: 0 }
    : { maxStandby: settings.maxStandby ?? (reuse === "none" ? undefined : 0) };
  const pool = createGuestPool({ ...settings, start: () => settings.startGuest(), ...ahead });
  const disposal = new AbortController();
  const disposed = disposal.signal;
  const processors = availableParallelism();
  /** Session key at the gate for runs without a session. */
  const noSession = {};
  let running = 0;
  let waiting = 0;
  let disposing: Promise<void> | undefined;

  function acquire({ session, singleUse = false, allowedTools }: RunRequest): Promise<Lease | ErrorInfo> {
    const isShared = reuse === "session" && !singleUse;
    const own = isShared ? (session ?? settings.defaultSession) : undefined;
    // Anything that a run leaves behind in a process must not reach the tools of another run.
    const part = allowedTools && JSON.stringify(allowedTools.toSorted());
    return pool.acquire(own, part).catch(toErrorInfo);
  }

  /** Enters at once if there is room, which is the usual case. `undefined` for a nested run, which takes no slot. */
  function enter(request: RunRequest): Promise<Slot | "gone" | "busy"> | Slot | "gone" | undefined {
    if (request.signal?.aborted === true || disposed.aborted) return "gone";
    // A run that waits for a nested one, queued behind others that do the same, would wait forever.
    if (nested) return undefined;
    return gate.tryEnter(keyOf(request)) ?? queue(request);
  }

  function keyOf({ session }: RunRequest): Parameters<FairGate["enter"]>[0] {
    return { owner, session: session ?? noSession };
  }

  /** Waits in the queue; `gone` when the run was aborted or the sandbox disposed meanwhile, `busy` on timeout. */
  async function queue(request: RunRequest): Promise<Slot | "gone" | "busy"> {
    const { signal } = request;
    const late = queueTimeoutMs === undefined ? undefined : AbortSignal.timeout(queueTimeoutMs);
    const signals = [disposed, signal, late].filter((one) => one !== undefined);
    waiting += 1;
    try {
      return await gate.enter(keyOf(request), AbortSignal.any(signals));
    } catch {
      return late?.aborted === true && signal?.aborted !== true && !disposed.aborted ? "busy" : "gone";
    } finally {
      waiting -= 1;
    }
  }

  async function end(): Promise<void> {
    disposal.abort();
    quota?.dispose();
    await pool.dispose();
    await settings.cleanUp?.();
  }

  if (settings.firstGuest === undefined) pool.refill();
  else pool.adopt(settings.firstGuest);
  return {
    isolation,
    loadsAhead: true,
    stats: () => ({ ...pool.stats(), running, waiting }),
    async run(request) {
      const startedAt = performance.now();
      const limits = resolveLimits(settings.limits, request.limits);
      /** The report of a run that ended before it had a guest. */
      const report = () => {
        const nothing = { output: "", outputDroppedBytes: 0, toolCalls: [], toolResults: [] };
        return { ...nothing, isolation, durationMs: performance.now() - startedAt };
      };
      const refused = (refusal: RunRefusal): RunOutcome => ({ ...report(), status: "refused", ...refusal });
      const ended = (reason: KillReason, message: string): RunOutcome =>
        disposed.aborted
          ? { ...report(), status: "killed", reason: "disposed", message: DISPOSED }
          : { ...report(), status: "killed", reason, message };
      const program = await compileForGuest(request.code, request.signal);
      if ("error" in program) return { ...report(), status: "failed", kind: "syntax", error: program.error };
      const mayNotRun = (): RunOutcome => ended("aborted", "The program may not run.");
      // A program that may not run is not metered. When all processors are busy, taking a guest early gains nothing.
      const waits = meter !== undefined || running >= processors;
      if (waits && (await request.mayRun) === false) return mayNotRun();
      const entered = await enter(request);
      if (entered === "busy") {
        const message = `No guest was free within ${queueTimeoutMs} ms; ${waiting} more runs wait.`;
        return refused({ code: "SANDBOX_BUSY", message });
      }
      if (entered === "gone") return ended("aborted", "The run was aborted before it started.");
      running += 1;
      let ticket: RunTicket | undefined;
      try {
        const refusal = (await quota?.check()) ?? (await settings.checkWorkspace?.());
        if (refusal !== undefined) return refused(refusal);
        const admitted = await meter?.admit(request);
        if (admitted !== undefined && "code" in admitted) return refused(admitted);
        ticket = admitted;
        const lease = await acquire(request);
        if ("message" in lease) return ended("crashed", lease.message);
        const { connected, release } = lease;
        if ((await request.mayRun) === false) {
          if (release === undefined) connected.guest.kill();
          else release();
          return mayNotRun();
        }
        return await runOnGuest({
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
          onWaiting: entered?.setWaiting,
        });
      } finally {
        await ticket?.settle();
        running -= 1;
        entered?.();
        pool.refillSoon();
      }
    },
    endSession: (session) => pool.endSession(session),
    dispose: () => (disposing ??= end()),
  };
}
