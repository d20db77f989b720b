import { hash } from "node:crypto";
import { lstatSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { CemError, writeFailure } from "@cem/core";
import { FileLock, stillWritten, makePrivateFolder } from "@cem/core/files";

const DEFAULT_WAIT_MS = 10_000;

/**
 * Holds an inter-process lock of this user on this machine while an action runs. The lock of a killed process is released.
 *
 * @param key - Name of the lock. Locks are outside of the workspace, where guest code can't reach them.
 * @param shown - The name to show to people.
 * @param waitMs - Default: 10 seconds.
 * @throws CemError `STATE_BUSY` if it is held for that long.
 */
export async function withLock<Result>(
  key: string,
  shown: string,
  action: () => Promise<Result>,
  waitMs: number = DEFAULT_WAIT_MS,
): Promise<Result> {
  const busy = (): Error => stillWritten(shown, waitMs);
  const take = async () => FileLock.take(join(lockFolder(), `${hash("sha256", key)}.lock`), { waitMs, busy });
  const lock = await take().catch((error: unknown) => {
    throw writeFailure(error, `A lock for ${shown}`, "the file system of temporary files (TMPDIR)");
  });
  try {
    return await action();
  } finally {
    lock.release();
  }
}

function lockFolder(): string {
  const uid = process.getuid?.() ?? -1;
  const folder = join(tmpdir(), `cem-locks-${uid}`);
  makePrivateFolder(folder);
  const found = lstatSync(folder);
  if (found.isDirectory() && (uid < 0 || found.uid === uid)) return folder;
  throw new CemError("NOT_WRITABLE", `${basename(folder)} in TMPDIR has to be a folder of this user.`);
}
