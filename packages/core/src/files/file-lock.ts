import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "../errors.ts";

const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
/** Checking whether a lock is held takes the lock for a moment. */
const CONTENTION_MS = 20;
/** SQLite's code for a lock held by another connection. */
const BUSY = 5;

export interface FileLockOptions {
  /** How long to wait for a holder, in milliseconds. */
  waitMs: number;
  /** Creates the error for a lock that is still held after that. */
  busy: () => Error;
  signal?: AbortSignal | undefined;
}

/**
 * An exclusive lock across processes, also across containers that share its file. The system releases it as soon as its
 * process ends, for whatever reason.
 *
 * It is the write lock of an empty SQLite database, since Node has no other access to file locks. The holder removes
 * the file on release, so a process that gets the lock of a removed file tries again.
 */
export class FileLock {
  /** Keeps held locks referenced: a database that is garbage-collected gives up its lock. */
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
   * @param file - The path of its file, in an existing folder.
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

  /** Synchronous {@link take}. */
  static takeSync(file: string, { waitMs, busy }: Omit<FileLockOptions, "signal">): FileLock {
    const until = performance.now() + Math.max(waitMs, CONTENTION_MS);
    for (;;) {
      const leftMs = until - performance.now();
      const taken = FileLock.#try(file, Math.max(0, Math.ceil(leftMs)));
      if (taken !== undefined) return taken;
      if (leftMs <= 0) throw busy();
    }
  }

  /** Whether a lock is held. */
  static isHeld(file: string): boolean {
    const taken = existsSync(file) ? FileLock.#try(file) : null;
    taken?.release();
    return taken === undefined;
  }

  static #try(file: string, timeout = 0): FileLock | undefined {
    // Loaded on first use.
    const { DatabaseSync } = process.getBuiltinModule("node:sqlite");
    const before = identityOf(file) ?? make(file);
    const database = new DatabaseSync(file, { timeout });
    try {
      // In memory, so that no journal file is created.
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

/** Creates the file of a lock. Opens new files only: closing an existing one would release a lock that this process holds. */
function make(file: string): string | undefined {
  try {
    closeSync(openSync(file, "wx"));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return identityOf(file);
}

/** Creates a `STATE_BUSY` error for a lock that other processes held the whole time. */
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
