import { CemError, type SandboxStats } from "@cem/core";
import {
  checkHealth,
  connectGuest,
  START_TIMEOUT_MS,
  type ConnectedGuest,
  type GuestListener,
} from "./connected-guest.ts";
import type { Guest } from "./guest.ts";
import { partOf, SessionGuests, type SessionLease } from "./session-guests.ts";

/** Skips the health check for guests younger than this. */
const FRESH_MS = 10_000;
const HEALTH_TIMEOUT_MS = 2_000;
const LOOK_MS = 1_000;
/** Upper bound of the idle time of a session's guest: a ready one takes its place at the cost of a first run. */
const MAX_KEPT_MS = 60_000;
/** Default of `maxStandby`, as a multiple of `standby`. */
const GROWTH_FACTOR = 4;
const DEFAULT_STANDBY = 2;
const DEFAULT_IDLE_MS = 300_000;

/** Settings of a {@link GuestPool}. */
export interface GuestPoolSettings {
  /** Starts one guest. */
  start(): Promise<Guest> | Guest;
  /**
   * Number of booted guests kept ready. 0 starts each guest when it is needed.
   *
   * @defaultValue 2
   */
  standby?: number | undefined;
  /**
   * Upper bound of ready guests: their number grows by one with each run that finds none ready.
   *
   * @defaultValue Four times `standby` where each run has a guest of its own, else `standby`.
   */
  maxStandby?: number | undefined;
  /**
   * Guests that wait for the next run of their session; beyond it the one that has waited longest ends.
   *
   * @defaultValue 16
   */
  keptGuests?: number | undefined;
  /**
   * Idle time after which ready guests are killed, and kept ones after a minute at most, in milliseconds.
   *
   * @defaultValue 300,000
   */
  idleMs?: number | undefined;
  /**
   * Timeout of a guest's start, in milliseconds.
   *
   * @defaultValue 15,000
   */
  startTimeoutMs?: number | undefined;
  /**
   * Timeout of an idle guest's health check, in milliseconds.
   *
   * @defaultValue 2,000
   */
  healthTimeoutMs?: number | undefined;
}

interface Standby {
  starting: Promise<ConnectedGuest>;
  /** `performance.now()` at its start. */
  since: number;
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
export class GuestPool {
  readonly #settings: GuestPoolSettings;
  readonly #minStandby: number;
  readonly #idleMs: number;
  readonly #standby: Standby[] = [];
  readonly #sessions: SessionGuests;
  readonly #living = new Set<Guest>();
  /** Sessions of the guests that run a program. */
  readonly #lent = new Map<Guest, string>();
  readonly #counts = { started: 0, hits: 0, reused: 0, misses: 0, lost: 0, discarded: 0 };
  #wanted: number;
  /** `performance.now()` when a guest was taken last. */
  #takenAt = 0;
  #lookTimer: NodeJS.Timeout | undefined;
  #refilling: NodeJS.Immediate | undefined;
  #disposed = false;

  constructor(settings: GuestPoolSettings) {
    this.#settings = settings;
    this.#sessions = new SessionGuests(settings.keptGuests);
    this.#minStandby = settings.standby ?? DEFAULT_STANDBY;
    this.#idleMs = settings.idleMs ?? DEFAULT_IDLE_MS;
    this.#wanted = this.#minStandby;
  }

  /** Current and cumulative counts. */
  stats(): Omit<SandboxStats, "running" | "waiting"> {
    const standby = this.#standby.length;
    const kept = this.#sessions.size;
    return { standby, kept, taken: Math.max(0, this.#living.size - standby - kept), ...this.#counts };
  }

  /**
   * Takes a guest for one run; the caller releases or kills it.
   *
   * @param owner - The session whose kept guest may be used. Absent: the guest serves this run only.
   * @param part - Tells apart the runs of a session that share no guest.
   * @throws CemError `GUEST_START_FAILED` after a second failed start, `SANDBOX_DISPOSED`.
   */
  async take(owner?: string, part?: string): Promise<Lease> {
    const session = owner === undefined || part === undefined ? owner : partOf(owner, part);
    this.#takenAt = performance.now();
    this.#lookTimer ??= this.#lookLater();
    const kept = session === undefined ? undefined : await this.#takeKept(session);
    if (kept !== undefined) return this.#lease(kept);
    if (this.#refilling !== undefined && this.#standby.length === 0) this.refill();
    try {
      const connected = (await this.#takeStandby()) ?? (await this.#startNow());
      return this.#lease({ session, connected, runs: 0, memoryBytes: 0 });
    } catch (error) {
      if (session !== undefined) this.#sessions.remove(session);
      throw error;
    }
  }

  /** Adds a guest that was started elsewhere. */
  adopt(connected: ConnectedGuest): void {
    this.#watch(connected.guest);
    this.#standby.push({ starting: Promise.resolve(connected), since: performance.now() });
  }

  /** Refills in a later turn of the event loop, so that a sandbox disposed right after a run starts no guest. */
  refillSoon(): void {
    this.#refilling ??= setImmediate(() => this.refill());
  }

  /** Starts guests until enough are ready. Call it after a run: starting guests would slow the run down. */
  refill(): void {
    clearImmediate(this.#refilling);
    this.#refilling = undefined;
    // A guest that serves a session is ready for its next run. One is there for another session.
    const wanted = this.#wanted === 0 ? 0 : Math.max(1, this.#wanted - this.#sessions.serving);
    while (!this.#disposed && this.#standby.length < wanted) {
      const starting = this.#start();
      // Handled by the run that takes it.
      starting.catch(() => {});
      this.#standby.push({ starting, since: performance.now() });
    }
  }

  /** Kills the guests that are kept for a session, and those of its last runs once they have ended. */
  endSession(session: string): void {
    for (const { connected } of this.#sessions.end(session)) connected.guest.kill();
  }

  /** Kills every guest, including those in use, and resolves when all have ended. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#lookTimer);
    this.#standby.length = 0;
    this.#sessions.clear();
    const living = [...this.#living];
    for (const guest of living) {
      guest.ref?.();
      guest.kill();
    }
    await Promise.all(living.map((guest) => guest.exited));
  }

  async #takeKept(session: string): Promise<SessionLease | undefined> {
    for (;;) {
      const kept = await this.#sessions.take(session);
      if (kept?.connected.guest.alive !== false) {
        if (kept !== undefined) this.#counts.reused += 1;
        return kept;
      }
      this.#sessions.remove(session);
      this.#counts.lost += 1;
    }
  }

  async #takeStandby(): Promise<ConnectedGuest | undefined> {
    for (let next = this.#standby.shift(); next !== undefined; next = this.#standby.shift()) {
      const connected = await next.starting.catch(() => undefined);
      if (connected?.guest.alive === true && (await this.#isHealthy(connected, next.since))) {
        this.#counts.hits += 1;
        return connected;
      }
      connected?.guest.kill();
      this.#counts.lost += 1;
    }
    return undefined;
  }

  async #isHealthy(connected: ConnectedGuest, since: number): Promise<boolean> {
    if (performance.now() - since < FRESH_MS) return true;
    connected.guest.ref?.();
    const { healthTimeoutMs = HEALTH_TIMEOUT_MS } = this.#settings;
    return (await checkHealth(connected, healthTimeoutMs)) === undefined;
  }

  async #startNow(): Promise<ConnectedGuest> {
    this.#counts.misses += 1;
    const { maxStandby = this.#minStandby * GROWTH_FACTOR } = this.#settings;
    this.#wanted = Math.min(this.#wanted + 1, Math.max(this.#minStandby, maxStandby));
    try {
      return await this.#start();
    } catch (error) {
      if (this.#disposed || !CemError.isInstance(error) || error.code !== "GUEST_START_FAILED") throw error;
      // Retried once: a machine may fail to boot now and then.
      this.#counts.lost += 1;
      return this.#start();
    }
  }

  #lease(lease: SessionLease): Lease {
    const { connected, session } = lease;
    connected.guest.ref?.();
    if (session === undefined) return { connected, release: undefined };
    const { guest } = connected;
    this.#lent.set(guest, session);
    const release = (): void => {
      if (this.#lent.delete(guest)) this.#keep({ ...lease, session });
    };
    return { connected, release };
  }

  /** Keeps a guest after its run; one that has served its last run is killed. */
  #keep(lease: SessionLease & { session: string }): void {
    const { connected, runs, session } = lease;
    if (!this.#sessions.isSpent(lease) && !this.#disposed) {
      connected.guest.unref?.();
      connected.listen(killOnOutput(connected));
      for (const evicted of this.#sessions.keep({ ...lease, runs: runs + 1 })) {
        this.#counts.discarded += 1;
        evicted.connected.guest.kill();
      }
      return;
    }
    this.#counts.discarded += 1;
    this.#sessions.remove(session);
    connected.guest.kill();
  }

  async #start(): Promise<ConnectedGuest> {
    if (this.#disposed) throw new CemError("SANDBOX_DISPOSED", "The sandbox was disposed.");
    const since = performance.now();
    const guest = await this.#settings.start();
    this.#watch(guest);
    if (this.#disposed) guest.kill();
    const connected = await connectGuest(guest, this.#settings.startTimeoutMs ?? START_TIMEOUT_MS);
    this.#sessions.patienceMs = performance.now() - since;
    return connected;
  }

  #watch(guest: Guest): void {
    this.#counts.started += 1;
    this.#living.add(guest);
    void guest.exited.then(() => this.#forget(guest));
    guest.unref?.();
  }

  #forget(guest: Guest): void {
    this.#living.delete(guest);
    const session = this.#lent.get(guest);
    this.#lent.delete(guest);
    if (session !== undefined) this.#sessions.remove(session);
  }

  #lookLater(): NodeJS.Timeout {
    return setTimeout(() => this.#look(), Math.min(LOOK_MS, this.#idleMs)).unref();
  }

  /** Kills guests that have been idle for too long, and kept ones that do something between their runs. */
  #look(): void {
    for (const { connected } of this.#sessions.look(Math.min(MAX_KEPT_MS, this.#idleMs))) {
      this.#counts.discarded += 1;
      connected.guest.kill();
    }
    if (performance.now() - this.#takenAt >= this.#idleMs) this.#releaseStandby();
    this.#lookTimer = this.#living.size > 0 ? this.#lookLater() : undefined;
  }

  #releaseStandby(): void {
    this.#wanted = this.#minStandby;
    for (const { starting } of this.#standby.splice(0)) {
      void starting.then(
        ({ guest }) => guest.kill(),
        () => {},
      );
    }
  }
}

/** Ends an idle guest that sends anything: it runs no program that could. */
function killOnOutput({ guest }: ConnectedGuest): GuestListener {
  const kill = (): void => guest.kill();
  return { onMessage: kill, onText: kill, onViolation: kill, onExit: () => {} };
}
