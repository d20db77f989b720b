import { createHash, randomBytes } from "node:crypto";
import { lstat, link, mkdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, writeFailure } from "@cem/core";
import { isProcessRunning, processStart } from "@cem/files";

const DEFAULT_WAIT_MS = 10_000;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 50;
/** Where the start of processes is not known: a lock of one that has its number from another one that was killed. */
const ABANDONED_MS = 60_000;
const UNKNOWN = "-";
const PRIVATE_FOLDER = 0o700;

interface Waiting {
  shown: string;
  waitMs: number;
}

/**
 * Holds a lock between the processes of this user on this machine while an action runs. The lock of a process that was
 * killed does not hold.
 *
 * @param key - What is locked. Locks lie outside of the workspace, where guest code can't reach them.
 * @param shown - The same for people.
 * @param waitMs - Default: 10 seconds.
 * @throws CemError `STATE_BUSY` when it is held for so long.
 */
export async function withLock<Result>(
  key: string,
  shown: string,
  action: () => Promise<Result>,
  waitMs: number = DEFAULT_WAIT_MS,
): Promise<Result> {
  const folder = await lockFolder();
  const file = join(folder, `${createHash("sha256").update(key).digest("hex")}.lock`);
  const content = `${process.pid} ${processStart(process.pid) ?? UNKNOWN} ${randomBytes(8).toString("hex")}`;
  await acquire(file, content, { shown, waitMs });
  try {
    return await action();
  } finally {
    if ((await readLock(file)) === content) await unlink(file).catch(() => {});
  }
}

async function acquire(file: string, content: string, { shown, waitMs }: Waiting): Promise<void> {
  // Made with its content in one step, so that whoever finds it knows whose it is.
  const own = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await writeFile(own, content, { flag: "wx", mode: 0o600 });
    await linkWhenFree(own, file, { shown, waitMs });
  } catch (error) {
    throw writeFailure(error, `A lock for ${shown}`, `the file system of ${tmpdir()}`);
  } finally {
    await unlink(own).catch(() => {});
  }
}

async function linkWhenFree(own: string, file: string, { shown, waitMs }: Waiting): Promise<void> {
  const startedAt = performance.now();
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2)) {
    try {
      return await link(own, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    if (await isAbandoned(file)) await breakLock(file);
    else if (performance.now() - startedAt > waitMs) {
      throw new CemError("STATE_BUSY", `Another process has been writing ${shown} for ${waitMs / 1_000} s.`, {
        details: { file: shown },
      });
    } else await sleep(pauseMs);
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  const content = await readLock(file);
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined || content === undefined) return false;
  const [pid, started = UNKNOWN] = content.split(" ");
  if (!isProcessRunning(Number(pid))) return true;
  // A clock that jumps would take the lock from whoever holds it.
  if (started === UNKNOWN) return Date.now() - found.mtimeMs > ABANDONED_MS;
  return processStart(Number(pid)) !== started;
}

/** Takes an abandoned lock away. One that was made meanwhile by another process is put back. */
async function breakLock(file: string): Promise<void> {
  const aside = `${file}.${randomBytes(6).toString("hex")}`;
  try {
    await rename(file, aside);
  } catch {
    return;
  }
  if (!(await isAbandoned(aside))) await link(aside, file).catch(() => {});
  await unlink(aside).catch(() => {});
}

function readLock(file: string): Promise<string | undefined> {
  return readFile(file, "utf8").catch(() => undefined);
}

async function lockFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = join(tmpdir(), `cem-locks-${uid}`);
  await mkdir(folder, { mode: PRIVATE_FOLDER }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  if (found.isDirectory() && (uid < 0 || found.uid === uid)) return folder;
  throw new CemError("WORKSPACE_UNUSABLE", `${folder} has to be a folder of this user.`, {
    details: { folder },
  });
}
