// Temporary folders of scripts: removed when the script ends, also by a signal, and where it was killed, when it is started next.
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { isProcessRunning } from "../packages/core/src/files/processes.ts";

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
const parent = realpathSync(os.tmpdir());
const made: string[] = [];

/**
 * Makes a folder that goes with this process, as goes what this process, its servers and its workers put into the
 * system's temporary folder from now on.
 *
 * @param name - Begins the folder's name: `cem-bench`. Folders of that name whose process is gone are removed.
 */
export function temporaryFolder(name: string): string {
  if (made.length === 0) {
    removeAtExit();
    const own = makeFolder(name);
    for (const variable of ["TMPDIR", "TEMP", "TMP"]) process.env[variable] = own;
  }
  return makeFolder(name);
}

function makeFolder(name: string): string {
  sweep(name);
  const folder = mkdtempSync(path.join(parent, `${name}-${process.pid}-`));
  made.push(folder);
  return folder;
}

function removeAtExit(): void {
  process.once("exit", () => {
    for (const folder of made) remove(folder);
  });
  for (const [signal, code] of Object.entries(EXIT_CODES)) process.once(signal, () => process.exit(code));
}

function sweep(name: string): void {
  for (const entry of readdirSync(parent)) {
    const [, pid] = entry.startsWith(`${name}-`)
      ? (/^-(\d+)-\w+$/u.exec(entry.slice(name.length)) ?? [])
      : [];
    if (pid !== undefined && !isProcessRunning(Number(pid))) remove(path.join(parent, entry));
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch {
    // It belongs to another user, or something in it is still written.
  }
}
