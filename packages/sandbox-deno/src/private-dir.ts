import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isProcessRunning } from "@cem/files";

const PREFIX = "cem-deno-";
const made = new Set<string>();
let hasExitHook = false;

/** Removes folders of processes that were killed before they could remove them. */
function sweep(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = Number(/^cem-deno-(\d+)-/.exec(name)?.[1] ?? Number.NaN);
    if (Number.isNaN(pid) || isProcessRunning(pid)) continue;
    try {
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

/** Creates a folder that only this user can read. It is removed when the process exits. */
export function createPrivateDir(): string {
  if (!hasExitHook) {
    hasExitHook = true;
    sweep();
    process.once("exit", () => {
      for (const path of made) removePrivateDir(path);
    });
  }
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  made.add(path);
  mkdirSync(join(path, "root"));
  return path;
}

/** Removes such a folder. Further calls do nothing. */
export function removePrivateDir(path: string): void {
  made.delete(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
