import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "../errors.ts";

const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
/** Whoever only looks whether a lock is held has it for a moment. */
const CONTENTION_MS = 20;
/** SQLite's code of a lock that another connection has. */
const BUSY = 5;

export interface FileLockOptions {
  /** How long to wait for a holder, in milliseconds. */
  waitMs: number;
  /** Makes the error for a lock that is still held then. */
  busy: () => Error;
  signal?: AbortSignal | undefined;
}

/**
 * A lock that one holder has at a time, in this process or another, also between containers that share its file. The system
 * keeps it: it is free as soon as its process has ended, however that ended.
 *
 * It is the write lock of an empty SQLite database, since Node has no other access to the locks of files. Its holder removes the
 * file, so whoever gets the lock of a file that is no longer there tries again.
 */
export class FileLock {
  /** Whatever its holder keeps of it: a database that is collected as garbage gives up its lock. */
  static readonly #held = new Set<FileLock>();
  readonly #file: string;
  readonly #database: DatabaseSync;

  private constructor(file: string, database: DatabaseSync) {
    this.#file = file;
    this.#database = database;
    FileLock.#held.add(this);
  }

  /**
   * Takes a lock.
   *
   * @param file - The path of its file, in a folder that is there.
   * @throws what `busy` makes; the file system's error; the signal's reason.
   */
  static async take(file: string, { waitMs, busy, signal }: FileLockOptions): Promise<FileLock> {
    const until = performance.now() + Math.max(waitMs, CONTENTION_MS);
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
      signal?.throwIfAborted();
      const taken = FileLock.#try(file);
      if (taken !== undefined) return taken;
      if (performance.now() >= until) throw busy();
      await sleep(pauseMs * (0.5 + Math.random()), undefined, { signal });
    }
  }

  /** {@link take} for work that can't wait otherwise. */
  static takeSync(file: string, { waitMs, busy }: Omit<FileLockOptions, "signal">): FileLock {
    const until = performance.now() + Math.max(waitMs, CONTENTION_MS);
    for (;;) {
      const leftMs = until - performance.now();
      const taken = FileLock.#try(file, Math.max(0, Math.ceil(leftMs)));
      if (taken !== undefined) return taken;
      if (leftMs <= 0) throw busy();
    }
  }

  /** Whether somebody has a lock. */
  static isHeld(file: string): boolean {
    const taken = existsSync(file) ? FileLock.#try(file) : null;
    taken?.release();
    return taken === undefined;
  }

  static #try(file: string, timeout = 0): FileLock | undefined {
    // Loaded with the first lock.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const before = identityOf(file) ?? make(file);
    const database = new DatabaseSync(file, { timeout });
    try {
      // Without a journal in a file of its own.
      database.exec("pragma journal_mode = memory; begin immediate");
      if (before !== undefined && identityOf(file) === before) return new FileLock(file, database);
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== BUSY) {
        database.close();
        throw error;
      }
    }
    database.close();
    return undefined;
  }

  release(): void {
    FileLock.#held.delete(this);
    rmSync(this.#file, { force: true });
    this.#database.close();
  }
}

function identityOf(file: string): string | undefined {
  const found = statSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.ctimeNs}`;
}

/** Makes the file of a lock. Closing any other file than a new one would give up a lock that this process has. */
function make(file: string): string | undefined {
  try {
    closeSync(openSync(file, "wx"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return identityOf(file);
}

/** `STATE_BUSY`, for a lock that other processes have had all the time. */
export function stillWritten(file: string, waitMs: number): CemError {
  const message = `Another process has been writing ${file} for ${waitMs / 1_000} s.`;
  return new CemError("STATE_BUSY", message, { details: { file } });
}

/** Runs an action while no other process holds a lock. */
export async function withFileLock<Result>(
  file: string,
  action: () => Promise<Result>,
  options: FileLockOptions,
): Promise<Result> {
  const lock = await FileLock.take(file, options);
  try {
    options.signal?.throwIfAborted();
    return await action();
  } finally {
    lock.release();
  }
}
