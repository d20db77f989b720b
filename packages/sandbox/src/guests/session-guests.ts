import { availableParallelism } from "node:os";
import { chooseStale, chooseSurplus, DEFAULT_KEPT, shouldRetire, type SessionGuest } from "./eviction.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";

/** Runs after which a guest's memory is measured again. */
const RUNS_PER_MEASURE = 50;
/** Idle time after which a guest releases memory, in milliseconds. */
const COLLECT_MS = 2_000;
/** Bounds of `maxWaitMs`. */
const LEAST_WAIT_MS = 10;
const MOST_WAIT_MS = 1_000;

interface Session {
  /** Those that have not ended; the idle ones in the order of their last runs. */
  guests: Set<SessionGuest>;
  /** Runs that wait for a guest to come back. */
  waiting: { resolve(guest: SessionGuest): void; timer: NodeJS.Timeout }[];
  /** Whether no more runs will come. */
  hasEnded: boolean;
}

/** Guests by session. A guest never moves from one session to another. */
export type SessionGuests = ReturnType<typeof createSessionGuests>;

/**
 * @param maxKept - Idle guests kept over all sessions.
 * @param processors - Guests of a session that run at once before further runs wait for them.
 */
export function createSessionGuests(
  maxKept: number = DEFAULT_KEPT,
  processors: number = availableParallelism(),
) {
  const sessions = new Map<string, Session>();
  /** Idle guests of all sessions, longest idle first. */
  const allIdle = new Set<SessionGuest>();
  let maxWaitMs = LEAST_WAIT_MS;

  function add(session: string, { guests }: Session): SessionGuest {
    const unused = { runs: 0, memoryBytes: 0, idleSince: 0, rests: false };
    const guest: SessionGuest = { session, state: "running", ...unused };
    guests.add(guest);
    return guest;
  }

  function end(...ended: SessionGuest[]): number {
    for (const guest of ended) {
      guest.state = "ended";
      guest.connected?.guest.kill();
      allIdle.delete(guest);
      const own = sessions.get(guest.session);
      if (own?.guests.delete(guest) !== true || own.guests.size > 0) continue;
      if (own.waiting.length === 0) sessions.delete(guest.session);
      else give(own, add(guest.session, own));
    }
    return ended.length;
  }

  /** Gives a guest to the run that waits longest. */
  function give({ waiting }: Session, guest: SessionGuest): void {
    const next = waiting.shift();
    clearTimeout(next?.timer);
    next?.resolve(guest);
  }

  return {
    /** Sets how long a run waits for a guest of its session to return: as long as starting another takes. */
    set maxWaitMs(ms: number) {
      maxWaitMs = Math.min(Math.max(ms, LEAST_WAIT_MS), MOST_WAIT_MS);
    },
    /** Number of guests that serve a session, idle or not. */
    get serving(): number {
      return [...sessions.values()].reduce((sum, { guests }) => sum + guests.size, 0);
    },
    get idle(): number {
      return allIdle.size;
    },
    /**
     * Takes the guest of a session that ran last. When there is none, waits for one to return as long as that is likely
     * to be faster than starting another: short runs share few guests.
     *
     * @returns a guest without `connected` when the session needs one more.
     */
    async acquire(session: string): Promise<SessionGuest> {
      const own = sessions.get(session) ?? { guests: new Set(), waiting: [], hasEnded: false };
      sessions.set(session, own);
      const idle = [...own.guests].findLast(({ state }) => state === "idle");
      if (idle !== undefined) {
        allIdle.delete(idle);
        idle.state = "running";
        return idle;
      }
      if (own.guests.size < processors) return add(session, own);
      const { promise, resolve } = Promise.withResolvers<SessionGuest>();
      const timer = setTimeout(() => {
        own.waiting = own.waiting.filter((waiting) => waiting.timer !== timer);
        resolve(add(session, own));
      }, maxWaitMs);
      own.waiting.push({ resolve, timer });
      return promise;
    },
    /** Takes a guest back after its run. Returns how many guests were ended, of this session or of others. */
    release(guest: SessionGuest): number {
      const own = sessions.get(guest.session);
      if (guest.state !== "running" || own === undefined) return 0;
      if (guest.runs % RUNS_PER_MEASURE === 0)
        guest.memoryBytes = guest.connected?.guest.usage?.()?.memoryBytes ?? 0;
      guest.runs += 1;
      if (shouldRetire(guest)) return end(guest);
      for (const { timer } of own.waiting) timer.refresh();
      if (own.waiting.length > 0) {
        give(own, guest);
        return 0;
      }
      if (own.hasEnded) return end(guest);
      Object.assign(guest, {
        state: "idle",
        idleSince: performance.now(),
        idleUsage: undefined,
        rests: false,
      });
      own.guests.delete(guest);
      own.guests.add(guest);
      allIdle.add(guest);
      return end(...chooseSurplus(allIdle, maxKept));
    },
    /** Kills a guest that no longer serves its session, or has ended by itself. Further calls do nothing. */
    end,
    /** Records that a session, with all of its parts, has ended. Its running guests are ended when they are released. */
    endSession(session: string): void {
      for (const [name, own] of sessions) {
        if (name === session || name.startsWith(partOf(session, ""))) own.hasEnded = true;
      }
      end(...[...allIdle].filter((guest) => sessions.get(guest.session)?.hasEnded === true));
    },
    /** Ends idle guests that are no longer worth their memory, and tells the others to release some, once. */
    sweep(maxIdleMs: number): number {
      const ended = end(...chooseStale(allIdle, maxKept, maxIdleMs));
      for (const guest of allIdle) {
        if (guest.rests || performance.now() - guest.idleSince < COLLECT_MS) continue;
        guest.rests = true;
        guest.connected?.guest.stdin.write(encodeHostMessage({ type: "rest" }));
      }
      return ended;
    },
    clear: () => end(...allIdle),
  };
}

/** The name of a part of a session, whose runs don't share guests with those of other parts. */
export function partOf(session: string, part: string): string {
  return `${session}\0${part}`;
}
