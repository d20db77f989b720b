import { CemError, type SandboxStats } from "@cem/core";
import { checkHealth, connectGuest, type ConnectedGuest, type GuestListener } from "./connected-guest.ts";
import type { Guest } from "./guest.ts";
import type { SessionGuest } from "./eviction.ts";
import { createSessionGuests, partOf } from "./session-guests.ts";

/** Skips the health check for guests younger than this. */
const FRESH_MS = 10_000;
const HEALTH_TIMEOUT_MS = 2_000;
const SWEEP_MS = 1_000;
/** Upper bound of the idle time of a session's guest: a standby guest can replace it at the cost of a first run. */
const MAX_KEPT_MS = 60_000;
/** Default of `maxStandby`, as a multiple of `standby`. */
const GROWTH_FACTOR = 4;
const DEFAULT_STANDBY = 2;
const DEFAULT_IDLE_MS = 300_000;

export interface GuestPoolSettings {
  start(): Promise<Guest> | Guest;
  /** Number of booted guests kept ready. 0 starts each guest when it is needed. @defaultValue 2 */
  standby?: number | undefined;
  /**
   * Upper bound of ready guests: their number grows by one with each run that finds none ready.
   *
   * @defaultValue Four times `standby` where each run has a guest of its own, else `standby`.
   */
  maxStandby?: number | undefined;
  /** Maximum number of guests kept for the next run of their session; beyond it, one of them is ended. @defaultValue 16 */
  keptGuests?: number | undefined;
  /** Idle time in milliseconds after which standby guests are killed; kept ones after a minute at most. @defaultValue 300,000 */
  idleMs?: number | undefined;
  /** Timeout of a guest's start, in milliseconds. @defaultValue 15,000 */
  startTimeoutMs?: number | undefined;
  /** Timeout of an idle guest's health check, in milliseconds. @defaultValue 2,000 */
  healthTimeoutMs?: number | undefined;
}

/** A guest taken from the pool for one run. */
export interface Lease {
  connected: ConnectedGuest;
  /** Returns the guest to the pool for the next run of its session. `undefined`: the caller kills the guest. */
  release: (() => void) | undefined;
}

/**
 * A pool of booted guests. A guest serves one run and is replaced after it, or is kept for further runs of one session.
 */
export function createGuestPool(settings: GuestPoolSettings) {
  const { standby: minStandby = DEFAULT_STANDBY, maxStandby = minStandby * GROWTH_FACTOR } = settings;
  const { idleMs = DEFAULT_IDLE_MS, startTimeoutMs, healthTimeoutMs = HEALTH_TIMEOUT_MS } = settings;
  /** `since`: `performance.now()` at its start. */
  const standby: { starting: Promise<ConnectedGuest>; since: number }[] = [];
  const sessions = createSessionGuests(settings.keptGuests);
  const living = new Set<Guest>();
  const counts = { started: 0, hits: 0, reused: 0, misses: 0, lost: 0, discarded: 0 };
  let wanted = minStandby;
  /** `performance.now()` when a guest was last taken. */
  let takenAt = 0;
  let sweepTimer: NodeJS.Timeout | undefined;
  let refilling: NodeJS.Immediate | undefined;
  let disposed = false;

  /** Starts guests until enough are ready. Call it after a run: starting guests would slow the run down. */
  function refill(): void {
    clearImmediate(refilling);
    refilling = undefined;
    // A guest that serves a session is available for its next run. At least one is ready for another session.
    if (disposed) return;
    const needed = wanted === 0 ? 0 : Math.max(1, wanted - sessions.serving);
    while (standby.length < needed) {
      const starting = start();
      // Handled by the run that takes it.
      starting.catch(() => {});
      standby.push({ starting, since: performance.now() });
    }
  }

  /** Takes a guest of a session, which may be one that has yet to start. */
  async function acquireOwn(session: string): Promise<SessionGuest> {
    for (;;) {
      const own = await sessions.acquire(session);
      if (own.connected?.guest.alive !== false) {
        if (own.connected !== undefined) counts.reused += 1;
        return own;
      }
      sessions.end(own);
      counts.lost += 1;
    }
  }

  async function acquireNew(): Promise<ConnectedGuest> {
    if (refilling !== undefined && standby.length === 0) refill();
    return (await acquireStandby()) ?? startNow();
  }

  async function acquireStandby(): Promise<ConnectedGuest | undefined> {
    for (let next = standby.shift(); next !== undefined; next = standby.shift()) {
      const connected = await next.starting.catch(() => undefined);
      if (connected?.guest.alive === true && (await isHealthy(connected, next.since))) {
        counts.hits += 1;
        return connected;
      }
      connected?.guest.kill();
      counts.lost += 1;
    }
    return undefined;
  }

  async function isHealthy(connected: ConnectedGuest, since: number): Promise<boolean> {
    if (performance.now() - since < FRESH_MS) return true;
    connected.guest.ref?.();
    return (await checkHealth(connected, healthTimeoutMs)) === undefined;
  }

  async function startNow(): Promise<ConnectedGuest> {
    counts.misses += 1;
    wanted = Math.min(wanted + 1, Math.max(minStandby, maxStandby));
    try {
      return await start();
    } catch (error) {
      if (disposed || !CemError.isInstance(error) || error.code !== "GUEST_START_FAILED") throw error;
      // Retried once: a machine may occasionally fail to boot.
      counts.lost += 1;
      return start();
    }
  }

  /** Makes a started guest one of a session. */
  function bind(own: SessionGuest, connected: ConnectedGuest): void {
    own.connected = connected;
    void connected.guest.exited.finally(() => {
      if (own.state === "idle") counts.lost += 1;
      sessions.end(own);
    });
  }

  /** Keeps a guest after its run. One that has ended meanwhile reports that itself. */
  function release(own: SessionGuest, connected: ConnectedGuest): void {
    if (disposed || !connected.guest.alive) return;
    connected.guest.unref?.();
    connected.listen(killOnOutput(connected));
    counts.discarded += sessions.release(own);
  }

  async function start(): Promise<ConnectedGuest> {
    if (disposed) throw new CemError("SANDBOX_DISPOSED", "The sandbox was disposed.");
    const since = performance.now();
    const guest = await settings.start();
    watch(guest);
    if (disposed) guest.kill();
    const connected = await connectGuest(guest, startTimeoutMs);
    sessions.maxWaitMs = performance.now() - since;
    return connected;
  }

  function watch(guest: Guest): void {
    counts.started += 1;
    living.add(guest);
    void guest.exited.finally(() => living.delete(guest));
    guest.unref?.();
  }

  function sweepLater(): NodeJS.Timeout {
    return setTimeout(() => sweep(), Math.min(SWEEP_MS, idleMs)).unref();
  }

  /** Kills guests that have been idle for too long, and kept guests that are active between runs. */
  function sweep(): void {
    counts.discarded += sessions.sweep(Math.min(MAX_KEPT_MS, idleMs));
    if (performance.now() - takenAt >= idleMs) {
      wanted = minStandby;
      for (const { starting } of standby.splice(0))
        starting.then(({ guest }) => guest.kill()).catch(() => {});
    }
    sweepTimer = living.size > 0 ? sweepLater() : undefined;
  }

  return {
    stats(): Omit<SandboxStats, "running" | "waiting"> {
      const [ready, kept] = [standby.length, sessions.idle];
      return { standby: ready, kept, taken: Math.max(0, living.size - ready - kept), ...counts };
    },
    /**
     * Takes a guest for one run; the caller releases or kills it.
     *
     * @param owner - The session whose kept guest may be used. Absent: the guest serves this run only.
     * @param part - Distinguishes runs of a session that must not share a guest.
     * @throws CemError `GUEST_START_FAILED` after a second failed start, `SANDBOX_DISPOSED`.
     */
    async acquire(owner?: string, part?: string): Promise<Lease> {
      const session = owner === undefined || part === undefined ? owner : partOf(owner, part);
      takenAt = performance.now();
      sweepTimer ??= sweepLater();
      const own = session === undefined ? undefined : await acquireOwn(session);
      try {
        const connected = own?.connected ?? (await acquireNew());
        connected.guest.ref?.();
        if (own === undefined) return { connected, release: undefined };
        if (own.connected === undefined) bind(own, connected);
        return { connected, release: () => release(own, connected) };
      } catch (error) {
        if (own !== undefined) sessions.end(own);
        throw error;
      }
    },
    /** Adds a guest that was started elsewhere. */
    adopt(connected: ConnectedGuest): void {
      watch(connected.guest);
      standby.push({ starting: Promise.resolve(connected), since: performance.now() });
    },
    /** Refills in a later turn of the event loop, so that a sandbox disposed right after a run starts no guest. */
    refillSoon(): void {
      refilling ??= setImmediate(() => refill());
    },
    refill,
    /** Kills the guests that are kept for a session, and those of its last runs once they have ended. */
    endSession: (session: string) => sessions.endSession(session),
    /** Kills every guest, including those in use, and resolves when all have ended. */
    async dispose(): Promise<void> {
      disposed = true;
      clearTimeout(sweepTimer);
      standby.length = 0;
      sessions.clear();
      const left = [...living];
      for (const guest of left) {
        guest.ref?.();
        guest.kill();
      }
      await Promise.all(left.map((guest) => guest.exited));
    },
  };
}

/** Ends an idle guest that sends anything, since it runs no program. */
function killOnOutput({ guest }: ConnectedGuest): GuestListener {
  const kill = (): void => guest.kill();
  return { onMessage: kill, onText: kill, onViolation: kill, onExit: () => {} };
}
