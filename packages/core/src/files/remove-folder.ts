import { randomBytes } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing, PRIVATE_FOLDER } from "./write-files.ts";

/** Systems take some 4,096 bytes for a path; a name has 255 at most. */
const MAX_PATH_BYTES = 3_500;
const RETRIES = { maxRetries: 40, retryDelay: 25 };

/**
 * Removes a folder in which a program may have done anything: folders that nobody may enter, paths longer than the system
 * takes, and files that come while it is removed.
 */
export async function removeFolder(folder: string): Promise<void> {
  const options = { recursive: true, force: true, ...RETRIES };
  try {
    await rm(folder, options);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!["EACCES", "EPERM", "ENAMETOOLONG"].includes(code)) throw error;
    await openUp(folder);
    await rm(folder, options);
  }
}

/** Lets folders be entered, and takes those that are too far down to the top. */
async function openUp(folder: string): Promise<void> {
  const pending = [folder];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    await chmod(next, PRIVATE_FOLDER).catch(ignoreMissing);
    for (const entry of (await readdir(next, { withFileTypes: true }).catch(ignoreMissing)) ?? []) {
      if (!entry.isDirectory()) continue;
      let below = path.join(next, entry.name);
      if (Buffer.byteLength(below) > MAX_PATH_BYTES) {
        const top = path.join(folder, randomBytes(8).toString("hex"));
        await rename(below, top);
        below = top;
      }
      pending.push(below);
    }
  }
}
