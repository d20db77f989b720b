import { availableParallelism } from "node:os";
import type { ConnectedGuest } from "./connected-guest.ts";
import type { GuestUsage } from "./guest.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";

/** Maximum number of runs per guest: each leaves a little in its memory. */
const MAX_RUNS = 1_000;
/** Idle guests kept over all sessions. */
const DEFAULT_KEPT = 16;
/** Idle time, in milliseconds, after which fewer guests are kept, unless more than the default number was configured. */
const REST_MS = 10_000;
const RESTING = 2;
/** Idle time after which a guest releases memory, in milliseconds. */
const COLLECT_MS = 2_000;
/** Memory per kept guest, in bytes: guests are also evicted when all together, as last measured, use more. */
const BYTES_A_GUEST = 32 * 1024 * 1024;
/** Memory at which a guest is replaced, in bytes. */
const MAX_GUEST_BYTES = 160 * 1024 * 1024;
/** Runs after which a guest's memory is measured again. */
const RUNS_PER_MEASURE = 50;
/** Limits of an idle guest's activity. A garbage collection takes about 20 ms. */
const MAX_IDLE_PROCESSOR_MS = 250;
const MAX_IDLE_WRITTEN_BYTES = 64 * 1024;
const MAX_IDLE_GROWTH_BYTES = 32 * 1024 * 1024;
/** Bounds of `patienceMs`. */
const LEAST_PATIENCE_MS = 10;
const MOST_PATIENCE_MS = 1_000;

/** A guest and the session it serves. */
export interface SessionLease {
  /** Absent: it serves one run. */
  session: string | undefined;
  connected: ConnectedGuest;
  /** Completed runs. */
  runs: number;
  /** Its memory when it was last measured. */
  memoryBytes: number;
  /** `performance.now()` at the end of its last run. */
  idleSince?: number;
  /** Its usage at the first check after its last run. */
  idleUsage?: GuestUsage | undefined;
  /** Whether it was told to release memory. */
  rests?: boolean;
}

/** A run that waits for a guest. */
interface Waiting {
  give(lease: SessionLease | undefined): void;
  timer: NodeJS.Timeout;
}

/** The guests of one session. */
interface Session {
  /** Guests that run a program. */
  running: number;
  /** Longest idle first. */
  idle: SessionLease[];
  /** Runs that wait for a guest to come back. */
  waiting: Waiting[];
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
  const allIdle = new Set<SessionLease>();
  let patienceMs = LEAST_PATIENCE_MS;

  /** Evicts random guests: when more sessions run in turn than guests are kept, the one idle longest is needed next. */
  function evict(): SessionLease[] {
    const evicted: SessionLease[] = [];
    let bytes = 0;
    for (const { memoryBytes } of allIdle) bytes += memoryBytes;
    while (allIdle.size > maxKept || bytes > maxKept * BYTES_A_GUEST) {
      const lease = [...allIdle][Math.floor(Math.random() * allIdle.size)];
      if (lease === undefined) break;
      bytes -= lease.memoryBytes;
      removeIdle(lease);
      evicted.push(lease);
    }
    return evicted;
  }

  function removeIdle(lease: SessionLease): void {
    allIdle.delete(lease);
    const session = lease.session ?? "";
    const own = sessions.get(session);
    if (own === undefined) return;
    own.idle.splice(own.idle.indexOf(lease), 1);
    forgetIfEmpty(session, own);
  }

  function forgetIfEmpty(session: string, own: Session): void {
    if (own.running + own.idle.length > 0) return;
    const next = own.waiting.shift();
    if (next === undefined) sessions.delete(session);
    else next.give(undefined);
  }

  return {
    /** Sets how long a run waits for a guest of its session to return: as long as starting another takes. */
    set patienceMs(ms: number) {
      patienceMs = Math.min(Math.max(ms, LEAST_PATIENCE_MS), MOST_PATIENCE_MS);
    },
    /** Number of guests that serve a session, idle or not. */
    get serving(): number {
      let guests = 0;
      for (const { running, idle } of sessions.values()) guests += running + idle.length;
      return guests;
    },
    /** Number of idle guests. */
    get size(): number {
      return allIdle.size;
    },
    /**
     * Takes an idle guest of a session. When there is none, waits for one to return as long as that is likely to be
     * faster than starting another: short runs share few guests.
     *
     * @returns `undefined` when the session needs one more guest, which counts as running from now on.
     */
    async take(session: string): Promise<SessionLease | undefined> {
      const own = sessions.get(session) ?? { running: 0, idle: [], waiting: [], hasEnded: false };
      sessions.set(session, own);
      const idle = own.idle.pop();
      if (idle !== undefined) allIdle.delete(idle);
      if (idle !== undefined || own.running < processors) {
        own.running += 1;
        return idle;
      }
      return new Promise((resolve) => {
        const waiting: Waiting = {
          give(lease) {
            clearTimeout(waiting.timer);
            own.running += 1;
            resolve(lease);
          },
          timer: setTimeout(() => {
            own.waiting.splice(own.waiting.indexOf(waiting), 1);
            waiting.give(undefined);
          }, patienceMs),
        };
        own.waiting.push(waiting);
      });
    },
    /** Records that a guest of a session has ended, in a run or after it. */
    remove(session: string): void {
      const own = sessions.get(session);
      if (own === undefined) return;
      own.running -= 1;
      forgetIfEmpty(session, own);
    },
    /** Takes a guest back after its run. Returns the guests to evict. */
    keep(lease: SessionLease & { session: string }): SessionLease[] {
      const own = sessions.get(lease.session);
      if (own === undefined) return [lease];
      own.running -= 1;
      for (const { timer } of own.waiting) timer.refresh();
      const next = own.waiting.shift();
      if (next !== undefined) {
        next.give(lease);
        return [];
      }
      if (own.hasEnded) {
        forgetIfEmpty(lease.session, own);
        return [lease];
      }
      lease.idleSince = performance.now();
      lease.idleUsage = undefined;
      lease.rests = false;
      own.idle.push(lease);
      allIdle.add(lease);
      return evict();
    },
    /** Records that a session, with all of its parts, has ended. Removes and returns its idle guests. */
    end(session: string): SessionLease[] {
      const parts = [...sessions].filter(
        ([name]) => name === session || name.startsWith(partOf(session, "")),
      );
      const idle = parts.flatMap(([, own]) => {
        own.hasEnded = true;
        return [...own.idle];
      });
      for (const lease of idle) removeIdle(lease);
      return idle;
    },
    /** Whether a guest has served its last run. Measures its memory from time to time. */
    isSpent(lease: SessionLease): boolean {
      if (lease.runs + 1 >= MAX_RUNS) return true;
      if (lease.runs % RUNS_PER_MEASURE === 0) {
        lease.memoryBytes = lease.connected.guest.usage?.()?.memoryBytes ?? 0;
      }
      return lease.memoryBytes > MAX_GUEST_BYTES;
    },
    /**
     * Checks the idle guests. Removes and returns those that have been idle for too long (sooner when there are many),
     * and those that were active although they run no program. Tells the others to release memory, once.
     */
    look(maxIdleMs: number): SessionLease[] {
      const now = performance.now();
      const resting = maxKept > DEFAULT_KEPT ? maxKept : RESTING;
      const surplus = allIdle.size - resting;
      const ended = [...allIdle].filter((lease, at) => {
        const idleMs = now - (lease.idleSince ?? 0);
        return idleMs >= maxIdleMs || (at < surplus && idleMs >= REST_MS) || isActive(lease);
      });
      for (const lease of ended) removeIdle(lease);
      for (const lease of allIdle) {
        if (lease.rests === true || now - (lease.idleSince ?? 0) < COLLECT_MS) continue;
        lease.rests = true;
        lease.connected.guest.stdin.write(encodeHostMessage({ type: "rest" }));
      }
      return ended;
    },
    /** Removes and returns all idle guests. */
    clear(): SessionLease[] {
      const all = [...allIdle];
      for (const lease of all) removeIdle(lease);
      return all;
    },
  };
}

/** Whether an idle guest was active since the first check. */
function isActive(lease: SessionLease): boolean {
  const usage = lease.connected.guest.usage?.();
  const first = (lease.idleUsage ??= usage);
  if (usage === undefined || first === undefined) return false;
  return (
    usage.processorMs - first.processorMs > MAX_IDLE_PROCESSOR_MS ||
    usage.writtenBytes - first.writtenBytes > MAX_IDLE_WRITTEN_BYTES ||
    usage.memoryBytes - first.memoryBytes > MAX_IDLE_GROWTH_BYTES
  );
}

/** The name of a part of a session, whose runs don't share guests with those of other parts. */
export function partOf(session: string, part: string): string {
  return `${session}\0${part}`;
}
