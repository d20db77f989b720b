import { CemError } from "@cem/core";
import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const LOCK_FOLDER = ".cem-writing";
/** A lock older than this was left by a process that died. Writing the largest server takes a few seconds. */
const STALE_AFTER_MS = 60_000;
const TIMEOUT_MS = 90_000;
const RETRY_DELAY_MS = 50;

/**
 * Runs an action under an exclusive lock on a folder, across processes.
 *
 * @param signal - cancels waiting for the lock.
 * @throws CemError `TOOL_FILES_BUSY` when another process holds the lock for 90 seconds.
 */
export async function withFolderLock<Result>(
  directory: string,
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  const lock = path.join(directory, LOCK_FOLDER);
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await tryToCreate(lock))) {
    signal?.throwIfAborted();
    if (Date.now() > deadline) throw busy(directory, lock);
    await removeIfStale(lock);
    await delay(RETRY_DELAY_MS, undefined, { signal });
  }
  try {
    signal?.throwIfAborted();
    return await action();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Creates the lock's folder, which succeeds for one process only. */
async function tryToCreate(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Renames the lock before removing it: of two processes that find it stale, one succeeds. */
async function removeIfStale(lock: string): Promise<void> {
  const status = await stat(lock).catch(() => undefined);
  if (status === undefined || Date.now() - status.mtimeMs < STALE_AFTER_MS) return;
  const away = `${lock}-${randomBytes(8).toString("hex")}`;
  const moved = await rename(lock, away).then(
    () => true,
    () => false,
  );
  if (moved) await rm(away, { recursive: true, force: true });
}

function busy(directory: string, lock: string): CemError {
  return new CemError(
    "TOOL_FILES_BUSY",
    `Another process has been writing to ${directory} for over ${TIMEOUT_MS / 1_000} s.`,
    { details: { directory, lock, waitedMs: TIMEOUT_MS } },
  );
}
