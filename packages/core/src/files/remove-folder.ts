import { randomBytes } from "node:crypto";
import { chmod, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { ignoreMissing, PRIVATE_FOLDER } from "./write-files.ts";

/** Systems accept paths of about 4,096 bytes; a name has at most 255. */
const MAX_PATH_BYTES = 3_500;
const RETRIES = { maxRetries: 40, retryDelay: 25 };

/** Removes a folder in which a program did anything: denied access, made paths too long, or creates files meanwhile. */
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

/** Makes folders accessible, and moves those that are nested too deeply to the top. */
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
