import { randomUUID } from "node:crypto";
import { closeSync, existsSync, openSync, rmSync, unlinkSync, utimesSync, writeSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { holderFile, HolderWatch, numbersIn, readHolder } from "./lock-holder.ts";
import type { LockHolder } from "./lock-holder.ts";
import { isRunning, ownIdentity } from "./processes.ts";

const HEARTBEAT_MS = 2_000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
/** Several who want a lock at once may all step back, each for a moment. */
const CONTENTION_MS = 2_000;
/** Other users may read who holds a lock that they share. */
const FILE_MODE = 0o644;
const pause = new Int32Array(new SharedArrayBuffer(4));

export interface FileLockOptions {
  /** How long to wait for a holder that is alive, in milliseconds. */
  waitMs: number;
  /** Makes the error for a lock that is still held then. */
  busy: (holder: LockHolder | undefined) => Error;
  signal?: AbortSignal | undefined;
}

/**
 * A lock that one process holds at a time, also between containers and machines that share its files. A holder that has ended
 * holds it no longer: it is known by its process, with the time of its start, a zombie being no process; one of another machine or
 * namespace of processes by its file, which it touches while it is there.
 *
 * Each holder has a file with a number of its own, one more than that of the last, which is made in one step, so that of two who
 * want it one gets it. Who then finds a holder beside it whom it did not judge to have ended steps back.
 */
export class FileLock {
  readonly #place: string;
  readonly #number: number;
  readonly #token: string;
  #timer: NodeJS.Timeout | undefined;

  private constructor(place: string, number: number, token: string) {
    this.#place = place;
    this.#number = number;
    this.#token = token;
  }

  /**
   * Takes a lock.
   *
   * @param place - The path that its files begin with, in a folder that is there.
   * @throws what `busy` makes; the file system's error; the signal's reason.
   */
  static async take(place: string, options: FileLockOptions): Promise<FileLock> {
    const { signal } = options;
    const attempt = FileLock.#attempts(place, options);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      signal?.throwIfAborted();
      const taken = attempt();
      if (taken !== undefined) return taken.#beating();
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal });
    }
  }

  /** {@link take} for work that can't wait otherwise. */
  static takeSync(place: string, options: Omit<FileLockOptions, "signal">): FileLock {
    const attempt = FileLock.#attempts(place, options);
    for (;;) {
      const taken = attempt();
      if (taken !== undefined) return taken;
      Atomics.wait(pause, 0, 0, FIRST_PAUSE_MS * (0.5 + Math.random()));
    }
  }

  /** Attempts to take a lock, one for each call. `undefined`: to be tried again. */
  static #attempts(place: string, { waitMs, busy }: FileLockOptions): () => FileLock | undefined {
    const watch = new HolderWatch();
    const startedAt = performance.now();
    return () => {
      const numbers = numbersIn(place);
      const holders = numbers.flatMap((number) => readHolder(place, number) ?? []);
      const holder = holders.find((one) => !watch.isDead(one));
      if (holder === undefined) {
        const ended = new Set(holders.map(({ token }) => token));
        const taken = FileLock.#claim(place, Math.max(0, ...numbers), ended);
        if (taken !== undefined) return taken;
      }
      const waitedMs = performance.now() - startedAt;
      const isEarly = holder === undefined ? waitedMs < CONTENTION_MS : watch.isUndecided;
      if (waitedMs >= waitMs && !isEarly) throw busy(holder);
      return undefined;
    };
  }

  /** Takes the number after those of holders that have ended. `undefined` where another was quicker. */
  static #claim(place: string, last: number, ended: ReadonlySet<string>): FileLock | undefined {
    const lock = new FileLock(place, last + 1, randomUUID());
    if (!lock.#write()) return undefined;
    const others = numbersIn(place).filter((one) => one !== lock.#number);
    const isAlone = others.every((one) => {
      const holder = readHolder(place, one);
      return one < lock.#number && (holder === undefined || ended.has(holder.token));
    });
    if (isAlone) for (const one of others) rmSync(holderFile(place, one), { force: true });
    else lock.release();
    return isAlone ? lock : undefined;
  }

  /** Whether no other process took the lock over, which held this one for dead. */
  isHeld(): boolean {
    return (
      !existsSync(holderFile(this.#place, this.#number + 1)) &&
      readHolder(this.#place, this.#number)?.token === this.#token
    );
  }

  release(): void {
    clearInterval(this.#timer);
    try {
      if (readHolder(this.#place, this.#number)?.token === this.#token) unlinkSync(this.#file);
    } catch {
      // Another process has taken it over, or the folder was removed.
    }
  }

  get #file(): string {
    return holderFile(this.#place, this.#number);
  }

  /** Makes the file of this holder. `false`: another has the number. */
  #write(): boolean {
    let descriptor: number;
    try {
      descriptor = openSync(this.#file, "wx", FILE_MODE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
      throw error;
    }
    try {
      writeSync(descriptor, JSON.stringify({ ...ownIdentity(), token: this.#token }));
    } catch (error) {
      unlinkSync(this.#file);
      throw error;
    } finally {
      closeSync(descriptor);
    }
    return true;
  }

  #beating(): this {
    const beat = (): void => {
      try {
        const now = new Date();
        utimesSync(this.#file, now, now);
      } catch {
        // Another process has taken it over.
      }
    };
    this.#timer = setInterval(beat, HEARTBEAT_MS).unref();
    return this;
  }
}

/** Runs an action while no other process holds a lock. */
export async function withFileLock<Result>(
  place: string,
  action: () => Promise<Result>,
  options: FileLockOptions,
): Promise<Result> {
  const lock = await FileLock.take(place, options);
  try {
    options.signal?.throwIfAborted();
    return await action();
  } finally {
    lock.release();
  }
}

/** The process that holds a lock at present. `undefined`: none, as far as can be known. */
export function holderOf(place: string): LockHolder | undefined {
  return numbersIn(place)
    .map((number) => readHolder(place, number))
    .find((holder) => holder !== undefined && isRunning(holder) !== false);
}
