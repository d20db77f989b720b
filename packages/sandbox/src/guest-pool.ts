import { CemError } from "@cem/core";
import { connectGuest, type ConnectedGuest } from "./connected-guest.ts";
import type { Guest } from "./guest.ts";

export interface GuestPoolSettings {
  /** Starts one guest. */
  start(): Promise<Guest> | Guest;
  /** How many booted guests wait for a run. 0 starts each when it is needed. */
  standby: number;
  /** Without a run for so long, the waiting guests are let go, in milliseconds. */
  idleMs: number;
}

/** What a pool has done and holds. */
export interface GuestPoolStats {
  /** Guests that wait, booted or booting. */
  standby: number;
  /** Guests that were taken and still live. */
  taken: number;
  started: number;
  /** Takes that found a guest waiting. */
  hits: number;
  /** Takes that had to start one. */
  misses: number;
  /** Guests that ended while they waited, or failed to start. */
  lost: number;
}

/** Keeps booted guests ready. A guest is taken, used once, killed, and replaced after its run. */
export class GuestPool {
  readonly #settings: GuestPoolSettings;
  readonly #standby: Promise<ConnectedGuest>[] = [];
  readonly #living = new Set<Guest>();
  readonly #counts = { started: 0, hits: 0, misses: 0, lost: 0 };
  #idleTimer: NodeJS.Timeout | undefined;
  #disposed = false;

  constructor(settings: GuestPoolSettings) {
    this.#settings = settings;
  }

  stats(): GuestPoolStats {
    const standby = this.#standby.length;
    return { standby, taken: Math.max(0, this.#living.size - standby), ...this.#counts };
  }

  /**
   * A guest for one run; the caller kills it.
   *
   * @throws CemError `GUEST_START_FAILED`.
   */
  async take(): Promise<ConnectedGuest> {
    this.#watchIdle();
    for (let waiting = this.#standby.shift(); waiting !== undefined; waiting = this.#standby.shift()) {
      const connected = await waiting.catch(() => undefined);
      if (connected?.guest.alive !== true) {
        this.#counts.lost += 1;
        continue;
      }
      this.#counts.hits += 1;
      connected.guest.ref?.();
      return connected;
    }
    this.#counts.misses += 1;
    const connected = await this.#start();
    connected.guest.ref?.();
    return connected;
  }

  /** Takes in a guest that was started elsewhere. */
  adopt(connected: ConnectedGuest): void {
    this.#watch(connected.guest);
    this.#standby.push(Promise.resolve(connected));
  }

  /** Starts guests until enough wait. Call it when a run has ended: during one it would slow it down. */
  refill(): void {
    while (!this.#disposed && this.#standby.length < this.#settings.standby) {
      const starting = this.#start();
      // Whoever takes it hears of a failure; until then it is nobody's.
      starting.catch(() => {});
      this.#standby.push(starting);
    }
  }

  /** Kills every guest, also those in use, and resolves when none is left. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    clearTimeout(this.#idleTimer);
    this.#standby.length = 0;
    const living = [...this.#living];
    for (const guest of living) {
      guest.ref?.();
      guest.kill();
    }
    await Promise.all(living.map((guest) => guest.exited));
  }

  async #start(): Promise<ConnectedGuest> {
    if (this.#disposed) throw new CemError("SANDBOX_DISPOSED", "The sandbox was disposed of.");
    const guest = await this.#settings.start();
    this.#watch(guest);
    if (this.#disposed) guest.kill();
    return connectGuest(guest);
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
    for (const waiting of this.#standby.splice(0)) {
      void waiting.then(
        ({ guest }) => guest.kill(),
        () => {},
      );
    }
  }
}
