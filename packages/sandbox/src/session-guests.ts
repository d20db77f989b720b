import type { ConnectedGuest } from "./connected-guest.ts";

/** A guest's modules stay in its memory, so it has so many runs at most. */
const MAX_RUNS = 200;
/** Guests kept over all sessions; beyond it the one that waited longest goes. */
const MAX_KEPT = 16;

/** A guest and the session whose runs it has. */
export interface SessionLease {
  /** Absent: it has one run. */
  session: string | undefined;
  connected: ConnectedGuest;
  /** Runs it has had. */
  runs: number;
}

/** Guests that wait for the next run of their session. One never goes from one session to another. */
export class SessionGuests {
  /** The one that has waited longest first. */
  readonly #kept: SessionLease[] = [];

  get size(): number {
    return this.#kept.length;
  }

  /** The guest of a session that waited shortest, which the session's next run has to itself. */
  take(session: string): SessionLease | undefined {
    const index = this.#kept.findLastIndex((lease) => lease.session === session);
    return index === -1 ? undefined : this.#kept.splice(index, 1)[0];
  }

  hasHadEnough({ runs }: SessionLease): boolean {
    return runs + 1 >= MAX_RUNS;
  }

  /** Keeps a guest after a run; gives the one that has to go for it. */
  keep(lease: SessionLease): SessionLease | undefined {
    this.#kept.push({ ...lease, runs: lease.runs + 1 });
    return this.#kept.length > MAX_KEPT ? this.#kept.shift() : undefined;
  }

  /** Lets go of all. */
  clear(): SessionLease[] {
    return this.#kept.splice(0);
  }
}
