import type { ConnectedGuest } from "./connected-guest.ts";

/** Runs per guest: its modules stay in its memory. */
const MAX_RUNS = 100;
/** Guests kept over all sessions; beyond it the one that has been idle longest is evicted. */
const MAX_KEPT = 16;

/** A guest and the session it serves. */
export interface SessionLease {
  /** Absent: it serves one run. */
  session: string | undefined;
  connected: ConnectedGuest;
  /** Completed runs. */
  runs: number;
}

/** A guest in its health check after a run. */
interface Recovery {
  session: string | undefined;
  /** The guest, ready for its next run; `undefined` when it failed the check. */
  recovered: Promise<SessionLease | undefined>;
}

/** Idle guests by session. A guest never moves from one session to another. */
export class SessionGuests {
  readonly #recovering: Recovery[] = [];
  /** Longest idle first. */
  readonly #kept: SessionLease[] = [];

  /** Number of idle guests. */
  get size(): number {
    return this.#kept.length;
  }

  /** Takes a guest of a session out: an idle one, or else one still in its health check. */
  async take(session: string): Promise<SessionLease | undefined> {
    const index = this.#kept.findLastIndex((lease) => lease.session === session);
    if (index !== -1) return this.#kept.splice(index, 1)[0];
    const next = this.#recovering.findIndex((recovery) => recovery.session === session);
    return next === -1 ? undefined : this.#recovering.splice(next, 1)[0]?.recovered;
  }

  /** Whether a guest has served its last run. */
  isSpent({ runs }: SessionLease): boolean {
    return runs + 1 >= MAX_RUNS;
  }

  /** Keeps a guest after its health check, unless a run has taken it by then. Resolves with the guest to evict. */
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

  /** Removes and returns all idle guests. */
  clear(): SessionLease[] {
    return this.#kept.splice(0);
  }
}
