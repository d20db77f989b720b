import { CemError } from "@cem/core";
import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const LOCK_FOLDER = ".cem-writing";
/** Writing the largest server takes a few seconds; who holds on for longer has died. */
const STALE_AFTER_MS = 60_000;
const WAIT_AT_MOST_MS = 90_000;
const ASK_EVERY_MS = 50;

/**
 * Runs an action while no other process runs one on the same folder.
 *
 * @throws CemError `TOOL_FILES_BUSY` when another one does not end.
 */
export async function withFolderLock<Result>(
  directory: string,
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  const lock = path.join(directory, LOCK_FOLDER);
  const giveUpAt = Date.now() + WAIT_AT_MOST_MS;
  while (!(await tryToMake(lock))) {
    signal?.throwIfAborted();
    if (Date.now() > giveUpAt) throw busy(directory, lock);
    await removeIfStale(lock);
    await delay(ASK_EVERY_MS, undefined, signal === undefined ? {} : { signal });
  }
  try {
    signal?.throwIfAborted();
    return await action();
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

/** Making a folder is what only one process can do. */
async function tryToMake(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Moves it away first: of two processes that find it stale only one succeeds. */
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
    `Another process has been writing ${directory} for over ${WAIT_AT_MOST_MS / 1_000} s. Wait for it, or remove ${lock}.`,
    { details: { directory, waitedMs: WAIT_AT_MOST_MS } },
  );
}
