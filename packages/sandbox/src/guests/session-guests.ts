import { availableParallelism } from "node:os";
import type { ConnectedGuest } from "./connected-guest.ts";
import type { GuestUsage } from "./guest.ts";
import { encodeHostMessage } from "../protocol/host-messages.ts";

/** Runs per guest: a little of each stays in its memory. */
const MAX_RUNS = 1_000;
/** Idle guests kept over all sessions. */
const DEFAULT_KEPT = 16;
/** Idle time, in milliseconds, after which only so many are kept, unless room for more than by default was asked for. */
const REST_MS = 10_000;
const RESTING = 2;
/** Idle time after which a guest gives memory back, in milliseconds. */
const COLLECT_MS = 2_000;
/** Memory for each kept guest, in bytes: where all together, as last measured, have more, they are evicted as well. */
const BYTES_A_GUEST = 32 * 1024 * 1024;
/** Memory at which a guest is replaced, in bytes. */
const MAX_GUEST_BYTES = 160 * 1024 * 1024;
/** Runs after which a guest's memory is measured again. */
const RUNS_PER_MEASURE = 50;
/** Bounds of what a guest may do while it is idle. A collection of garbage takes about 20 ms. */
const MAX_IDLE_PROCESSOR_MS = 250;
const MAX_IDLE_WRITTEN_BYTES = 64 * 1024;
const MAX_IDLE_GROWTH_BYTES = 32 * 1024 * 1024;
/** Bounds of {@link SessionGuests.patienceMs}. */
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
  /** Its usage at the first look after its last run. */
  idleUsage?: GuestUsage | undefined;
  /** Whether it was told to give memory back. */
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
  /** Whether no more runs are to come. */
  hasEnded: boolean;
}

/** Guests by session. A guest never moves from one session to another. */
export class SessionGuests {
  readonly #sessions = new Map<string, Session>();
  /** Of all sessions, longest idle first. */
  readonly #idle = new Set<SessionLease>();
  readonly #maxKept: number;
  readonly #processors: number;
  #patienceMs = LEAST_PATIENCE_MS;

  /**
   * @param maxKept - Idle guests kept over all sessions.
   * @param processors - Guests of a session that run at once before further runs wait for them.
   */
  constructor(maxKept: number = DEFAULT_KEPT, processors: number = availableParallelism()) {
    this.#maxKept = maxKept;
    this.#processors = processors;
  }

  /** Sets how long a run waits while no guest of its session comes back: as long as the start of another takes. */
  set patienceMs(ms: number) {
    this.#patienceMs = Math.min(Math.max(ms, LEAST_PATIENCE_MS), MOST_PATIENCE_MS);
  }

  /** Number of guests that serve a session, idle or not. */
  get serving(): number {
    let guests = 0;
    for (const { running, idle } of this.#sessions.values()) guests += running + idle.length;
    return guests;
  }

  /** Number of idle guests. */
  get size(): number {
    return this.#idle.size;
  }

  /**
   * Takes an idle guest of a session out. Where there is none, waits for one to come back as long as that is likely to be
   * sooner than another is ready: short runs share few guests.
   *
   * @returns `undefined` when the session is to have one more guest, which counts as running from now on.
   */
  async take(session: string): Promise<SessionLease | undefined> {
    const own = this.#session(session);
    const idle = own.idle.pop();
    if (idle !== undefined) this.#idle.delete(idle);
    if (idle !== undefined || own.running < this.#processors) {
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
        }, this.#patienceMs),
      };
      own.waiting.push(waiting);
    });
  }

  /** Notes that a guest of a session has ended, in a run or after it. */
  remove(session: string): void {
    const own = this.#sessions.get(session);
    if (own === undefined) return;
    own.running -= 1;
    this.#forgetIfEmpty(session, own);
  }

  /** Takes a guest back after its run. Returns the guests to evict. */
  keep(lease: SessionLease & { session: string }): SessionLease[] {
    const own = this.#sessions.get(lease.session);
    if (own === undefined) return [lease];
    own.running -= 1;
    for (const { timer } of own.waiting) timer.refresh();
    const next = own.waiting.shift();
    if (next !== undefined) {
      next.give(lease);
      return [];
    }
    if (own.hasEnded) {
      this.#forgetIfEmpty(lease.session, own);
      return [lease];
    }
    lease.idleSince = performance.now();
    lease.idleUsage = undefined;
    lease.rests = false;
    own.idle.push(lease);
    this.#idle.add(lease);
    return this.#evict();
  }

  /** Notes that a session, with all of its parts, has ended. Removes and returns its idle guests. */
  end(session: string): SessionLease[] {
    const parts = [...this.#sessions].filter(
      ([name]) => name === session || name.startsWith(partOf(session, "")),
    );
    const idle = parts.flatMap(([, own]) => {
      own.hasEnded = true;
      return [...own.idle];
    });
    for (const lease of idle) this.#removeIdle(lease);
    return idle;
  }

  /** Whether a guest has served its last run. Measures its memory now and then. */
  isSpent(lease: SessionLease): boolean {
    if (lease.runs + 1 >= MAX_RUNS) return true;
    if (lease.runs % RUNS_PER_MEASURE === 0) {
      lease.memoryBytes = lease.connected.guest.usage?.()?.memoryBytes ?? 0;
    }
    return lease.memoryBytes > MAX_GUEST_BYTES;
  }

  /**
   * Looks at the idle guests. Removes and returns those that have been idle for too long, of many sooner than of few, and
   * those that did something although they run no program. The others are told to give memory back, once.
   */
  look(maxIdleMs: number): SessionLease[] {
    const now = performance.now();
    const resting = this.#maxKept > DEFAULT_KEPT ? this.#maxKept : RESTING;
    const surplus = this.#idle.size - resting;
    const ended = [...this.#idle].filter((lease, at) => {
      const idleMs = now - (lease.idleSince ?? 0);
      return idleMs >= maxIdleMs || (at < surplus && idleMs >= REST_MS) || isActive(lease);
    });
    for (const lease of ended) this.#removeIdle(lease);
    for (const lease of this.#idle) {
      if (lease.rests === true || now - (lease.idleSince ?? 0) < COLLECT_MS) continue;
      lease.rests = true;
      lease.connected.guest.stdin.write(encodeHostMessage({ type: "rest" }));
    }
    return ended;
  }

  /** Removes and returns all idle guests. */
  clear(): SessionLease[] {
    const all = [...this.#idle];
    for (const lease of all) this.#removeIdle(lease);
    return all;
  }

  /** Any are evicted: the one idle longest is needed next where more sessions than are kept run by turns. */
  #evict(): SessionLease[] {
    const evicted: SessionLease[] = [];
    let bytes = 0;
    for (const { memoryBytes } of this.#idle) bytes += memoryBytes;
    while (this.#idle.size > this.#maxKept || bytes > this.#maxKept * BYTES_A_GUEST) {
      const lease = [...this.#idle][Math.floor(Math.random() * this.#idle.size)];
      if (lease === undefined) break;
      bytes -= lease.memoryBytes;
      this.#removeIdle(lease);
      evicted.push(lease);
    }
    return evicted;
  }

  #removeIdle(lease: SessionLease): void {
    this.#idle.delete(lease);
    const session = lease.session ?? "";
    const own = this.#sessions.get(session);
    if (own === undefined) return;
    own.idle.splice(own.idle.indexOf(lease), 1);
    this.#forgetIfEmpty(session, own);
  }

  #session(session: string): Session {
    let own = this.#sessions.get(session);
    if (own === undefined) {
      own = { running: 0, idle: [], waiting: [], hasEnded: false };
      this.#sessions.set(session, own);
    }
    return own;
  }

  #forgetIfEmpty(session: string, own: Session): void {
    if (own.running + own.idle.length > 0) return;
    const next = own.waiting.shift();
    if (next === undefined) this.#sessions.delete(session);
    else next.give(undefined);
  }
}

/** Compares an idle guest with the first look at it. */
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

/** The name of a part of a session, whose runs share no guest with those of other parts. */
export function partOf(session: string, part: string): string {
  return `${session}\0${part}`;
}
