import type { ConnectedGuest } from "./connected-guest.ts";

/** A guest's modules stay in its memory, so it has so many runs at most. */
const MAX_RUNS = 100;
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

/** A guest that is asked whether its run left nothing. */
interface Recovery {
  session: string | undefined;
  /** The guest with its next run to come; `undefined` when it is of no more use. */
  recovered: Promise<SessionLease | undefined>;
}

/** Guests that wait for the next run of their session. One never goes from one session to another. */
export class SessionGuests {
  readonly #recovering: Recovery[] = [];
  /** The one that has waited longest first. */
  readonly #kept: SessionLease[] = [];

  get size(): number {
    return this.#kept.length;
  }

  /** A guest of a session, which the session's next run has to itself: one that waits, or else one that soon will. */
  async take(session: string): Promise<SessionLease | undefined> {
    const index = this.#kept.findLastIndex((lease) => lease.session === session);
    if (index !== -1) return this.#kept.splice(index, 1)[0];
    const next = this.#recovering.findIndex((recovery) => recovery.session === session);
    return next === -1 ? undefined : this.#recovering.splice(next, 1)[0]?.recovered;
  }

  hasHadEnough({ runs }: SessionLease): boolean {
    return runs + 1 >= MAX_RUNS;
  }

  /** Keeps a guest once it has recovered, unless a run took it by then; gives the one that has to go for it. */
  async keep(
    session: string | undefined,
    recovered: Promise<SessionLease | undefined>,
  ): Promise<SessionLease | undefined> {
    const recovery = { session, recovered };
    this.#recovering.push(recovery);
    const lease = await recovered;
    const index = this.#recovering.indexOf(recovery);
    if (index === -1) return undefined;
    this.#recovering.splice(index, 1);
    if (lease === undefined) return undefined;
    this.#kept.push(lease);
    return this.#kept.length > MAX_KEPT ? this.#kept.shift() : undefined;
  }

  /** Lets go of all. */
  clear(): SessionLease[] {
    return this.#kept.splice(0);
  }
}
