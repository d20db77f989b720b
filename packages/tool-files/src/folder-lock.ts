import { CemError } from "@cem/core";
import { withFileLock } from "@cem/core/files";
import path from "node:path";

const LOCK_FILE = ".cem-writing";
/** Writing the largest server takes a few seconds. */
const TIMEOUT_MS = 90_000;

/**
 * Runs an action under an exclusive lock on a folder, across processes.
 *
 * @param signal - cancels waiting for the lock.
 * @throws CemError `TOOL_FILES_BUSY` when another process holds the lock for 90 seconds.
 */
export function withFolderLock<Result>(
  directory: string,
  signal: AbortSignal | undefined,
  action: () => Promise<Result>,
): Promise<Result> {
  const lock = path.join(directory, LOCK_FILE);
  const busy = (): CemError =>
    new CemError(
      "TOOL_FILES_BUSY",
      `Another process has been writing to ${directory} for over ${TIMEOUT_MS / 1_000} s.`,
      { details: { directory, lock, waitedMs: TIMEOUT_MS } },
    );
  return withFileLock(lock, action, { waitMs: TIMEOUT_MS, busy, signal });
}
