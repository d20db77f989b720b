import { ASSUMED } from "./scenario.ts";
import type { Scenario } from "./scenario.ts";

/** A worker of the simulation: slots, one processor, and the guests that it keeps. */
export class SimulatedWorker {
  free: number;
  /** Taken by a run that was sent here, while it still stands in the line of free slots. */
  stale = 0;
  isUp = true;
  /** Takes nothing more, and ends after what it has. */
  isDraining = false;
  /** Grows with each death: what was under way before is lost. */
  life = 0;
  #busyUntil = 0;
  readonly #guests = new Map<number, number>();
  readonly #slots: number;
  readonly #keptGuests: number;

  constructor({ slots, keptGuests }: Scenario) {
    this.free = slots;
    this.#slots = slots;
    this.#keptGuests = keptGuests;
  }

  /** @returns when so much work will be done. */
  compute(now: number, milliseconds: number): number {
    this.#busyUntil = Math.max(now, this.#busyUntil) + milliseconds;
    return this.#busyUntil;
  }

  /** @returns whether the session's guest is there. It is from now on. */
  use(session: number, now: number): boolean {
    const usedAt = this.#guests.get(session);
    this.#guests.delete(session);
    this.#guests.set(session, now);
    if (this.#guests.size > this.#keptGuests) {
      const [oldest] = this.#guests.keys();
      if (oldest !== undefined) this.#guests.delete(oldest);
    }
    return usedAt !== undefined && now - usedAt < ASSUMED.guestIdleMs;
  }

  die(): void {
    this.isUp = false;
    this.life += 1;
    this.free = 0;
    this.#guests.clear();
  }

  revive(now: number): void {
    this.isUp = true;
    this.free = this.#slots;
    this.stale = 0;
    this.#busyUntil = now;
  }
}

/** Workers with a free slot, in the order in which they were freed. */
export class FreeSlots {
  #line: SimulatedWorker[] = [];
  #head = 0;

  add(worker: SimulatedWorker): void {
    this.#line.push(worker);
  }

  /** Takes the slot that has waited longest. */
  take(): SimulatedWorker | undefined {
    while (this.#head < this.#line.length) {
      const worker = this.#line[this.#head] as SimulatedWorker;
      this.#head += 1;
      if (this.#head > 100_000) {
        this.#line = this.#line.slice(this.#head);
        this.#head = 0;
      }
      if (worker.stale > 0) worker.stale -= 1;
      else if (worker.isUp && !worker.isDraining && worker.free > 0) return worker;
    }
    return undefined;
  }
}
