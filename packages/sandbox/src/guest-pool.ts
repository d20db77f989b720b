import { CemError } from "@cem/core";
import type { SandboxStats } from "@cem/core";
import { checkHealth, connectGuest, START_TIMEOUT_MS, type ConnectedGuest } from "./connected-guest.ts";
import type { Guest } from "./guest.ts";
import { SessionGuests, type SessionLease } from "./session-guests.ts";

/** A guest that has just booted is believed for so long; one that waited longer is asked first. */
const FRESH_MS = 10_000;
const ANSWER_TIMEOUT_MS = 2_000;
/** More guests wait than at first, up to so many times as many, while runs find none. */
const GROWTH_FACTOR = 4;

export interface GuestPoolSettings {
  /** Starts one guest. */
  start(): Promise<Guest> | Guest;
  /** How many booted guests wait for a run. 0 starts each when it is needed. */
  standby: number;
  /** How many may wait after a time of many runs. Default: four times `standby`. */
  maxStandby?: number | undefined;
  /** Without a run for so long, the waiting guests are let go, in milliseconds. */
  idleMs: number;
  /** How long a guest may take to start, in milliseconds. Default 15,000. */
  startTimeoutMs?: number | undefined;
  /** How long a guest may take to say that it is well, in milliseconds. Default 2,000. */
  answerTimeoutMs?: number | undefined;
}

/** What a pool has done and holds. */
export type GuestPoolStats = Omit<SandboxStats, "running" | "queued">;

interface Waiting {
  starting: Promise<ConnectedGuest>;
  /** `performance.now()` when it was last known to be well. */
  since: number;
}

/** A guest for one run. */
export interface Lease {
  connected: ConnectedGuest;
  /** Gives the guest back for the next run of its session. Without it the caller kills the guest. */
  giveBack: (() => void) | undefined;
}

/**
 * Keeps booted guests ready. A guest is taken, used once, killed and replaced after its run; or it is kept for further
 * runs of one session, as long as each leaves it as it was.
 */
export class GuestPool {
  readonly #settings: GuestPoolSettings;
  readonly #standby: Waiting[] = [];
  readonly #sessions = new SessionGuests();
  readonly #living = new Set<Guest>();
  readonly #counts = { started: 0, hits: 0, reused: 0, misses: 0, lost: 0, discarded: 0 };
  #wanted: number;
  #idleTimer: NodeJS.Timeout | undefined;
  #refilling: NodeJS.Immediate | undefined;
  #disposed = false;

  constructor(settings: GuestPoolSettings) {
    this.#settings = settings;
    this.#wanted = settings.standby;
  }

  stats(): GuestPoolStats {
    const standby = this.#standby.length;
    const kept = this.#sessions.size;
    return { standby, kept, taken: Math.max(0, this.#living.size - standby - kept), ...this.#counts };
  }

  /**
   * A guest for one run; the caller gives it back or kills it.
   *
   * @param session whose guests may have further runs of it. Absent: the guest has this run only.
   * @throws CemError `GUEST_START_FAILED`.
   */
  async take(session?: string): Promise<Lease> {
    this.#watchIdle();
    const kept = session === undefined ? undefined : await this.#takeKept(session);
    if (kept !== undefined) return this.#lease(kept);
    if (this.#refilling !== undefined && this.#standby.length === 0) this.refill();
    const connected = (await this.#takeWaiting()) ?? (await this.#startNow());
    return this.#lease({ session, connected, runs: 0 });
  }

  /** Takes in a guest that was started elsewhere. */
  adopt(connected: ConnectedGuest): void {
    this.#watch(connected.guest);
    this.#standby.push({ starting: Promise.resolve(connected), since: performance.now() });
  }

  /** Refills later than whatever a run's outcome leads to at once, such as the end of the sandbox. */
  refillSoon(): void {
    this.#refilling ??= setImmediate(() => this.refill());
  }

  /** Starts guests until enough wait. Call it when a run has ended: during one it would slow it down. */
  refill(): void {
    clearImmediate(this.#refilling);
    this.#refilling = undefined;
    while (!this.#disposed && this.#standby.length < this.#wanted) {
      const starting = this.#start();
      // Whoever takes it hears of a failure; until then it is nobody's.
      starting.catch(() => {});
      this.#standby.push({ starting, since: performance.now() });
    }
  }

  /** Kills every guest, also those in use, and resolves when none is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#idleTimer);
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
      this.#counts.lost += 1;
    }
  }

  async #takeWaiting(): Promise<ConnectedGuest | undefined> {
    for (let waiting = this.#standby.shift(); waiting !== undefined; waiting = this.#standby.shift()) {
      const connected = await waiting.starting.catch(() => undefined);
      if (connected?.guest.alive === true && (await this.#isWell(connected, waiting.since))) {
        this.#counts.hits += 1;
        return connected;
      }
      connected?.guest.kill();
      this.#counts.lost += 1;
    }
    return undefined;
  }

  get #answerTimeoutMs(): number {
    return this.#settings.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  }

  async #isWell(connected: ConnectedGuest, since: number): Promise<boolean> {
    if (performance.now() - since < FRESH_MS) return true;
    connected.guest.ref?.();
    return (await checkHealth(connected, this.#answerTimeoutMs, "while it waited")) === undefined;
  }

  async #startNow(): Promise<ConnectedGuest> {
    this.#counts.misses += 1;
    const { standby, maxStandby = standby * GROWTH_FACTOR } = this.#settings;
    this.#wanted = Math.min(this.#wanted + 1, Math.max(standby, maxStandby));
    try {
      return await this.#start();
    } catch (error) {
      if (this.#disposed || !CemError.isInstance(error) || error.code !== "GUEST_START_FAILED") throw error;
      // A machine may fail to boot for once; that twice in a row is no accident.
      this.#counts.lost += 1;
      return this.#start();
    }
  }

  #lease(lease: SessionLease): Lease {
    const { connected, session } = lease;
    connected.guest.ref?.();
    const giveBack = session === undefined ? undefined : () => void this.#keep(lease);
    return { connected, giveBack };
  }

  async #keep(lease: SessionLease): Promise<void> {
    const tooMany = await this.#sessions.keep(lease.session, this.#recover(lease));
    tooMany?.connected.guest.kill();
  }

  /** Has a guest say that its run left nothing; one that doesn't is thrown away. */
  async #recover(lease: SessionLease): Promise<SessionLease | undefined> {
    const { connected, runs } = lease;
    const problem = this.#sessions.hasHadEnough(lease)
      ? "has had enough runs"
      : await checkHealth(connected, this.#answerTimeoutMs, "after its run");
    if (problem === undefined && !this.#disposed) {
      connected.guest.unref?.();
      return { ...lease, runs: runs + 1 };
    }
    this.#counts.discarded += 1;
    connected.guest.kill();
    return undefined;
  }

  async #start(): Promise<ConnectedGuest> {
    if (this.#disposed) throw new CemError("SANDBOX_DISPOSED", "The sandbox was disposed of.");
    const guest = await this.#settings.start();
    this.#watch(guest);
    if (this.#disposed) guest.kill();
    return connectGuest(guest, this.#settings.startTimeoutMs ?? START_TIMEOUT_MS);
  }

  #watch(guest: Guest): void {
    this.#counts.started += 1;
    this.#living.add(guest);
    void guest.exited.then(() => this.#living.delete(guest));
    guest.unref?.();
  }

  #watchIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#letGo(), this.#settings.idleMs);
    this.#idleTimer.unref();
  }

  #letGo(): void {
    this.#wanted = this.#settings.standby;
    for (const { connected } of this.#sessions.clear()) connected.guest.kill();
    for (const { starting } of this.#standby.splice(0)) {
      void starting.then(
        ({ guest }) => guest.kill(),
        () => {},
      );
    }
  }
}
