import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProcessRunning } from "./processes.ts";

/** The part of a name behind the prefix: the process and a unique suffix. */
const OF_PROCESS = /^-(\d+)-\w{6}$/;

const made = new Set<string>();
/** Where folders of earlier processes were looked for. */
const swept = new Set<string>();

/** Removes folders of processes that were killed before they could remove them. */
function sweep(below: string, prefix: string): void {
  for (const name of readdirSync(below)) {
    const pid = name.startsWith(prefix) ? OF_PROCESS.exec(name.slice(prefix.length))?.[1] : undefined;
    if (pid === undefined || isProcessRunning(Number(pid))) continue;
    try {
      rmSync(join(below, name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

/**
 * Creates a folder that only this user can read. It is removed when the process exits.
 *
 * @param below - The folder in which it is made.
 * @param prefix - The beginning of its name. In a folder that machines share, it has to name this one.
 */
export function createProcessFolder(below: string, prefix: string): string {
  if (swept.size === 0) {
    process.once("exit", () => {
      for (const path of made) removeProcessFolder(path);
    });
  }
  const place = join(below, prefix);
  if (!swept.has(place)) {
    swept.add(place);
    sweep(below, prefix);
  }
  const path = mkdtempSync(`${place}-${process.pid}-`);
  made.add(path);
  return path;
}

/** Removes such a folder. Further calls do nothing. */
export function removeProcessFolder(path: string): void {
  made.delete(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
