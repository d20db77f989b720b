import { readFileSync } from "node:fs";

/** Counted from the one behind the name of the program. */
const STARTED_FIELD = 19;

/** Whether a process of this machine runs, of whatever user. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * When a process was started, in the kernel's own count since the boot: two processes of one number have different ones.
 *
 * @returns `undefined` where the process is gone, or the system does not tell.
 */
export function processStart(pid: number): string | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return undefined;
  }
  // The name of the program, which may hold anything, is in parentheses before it.
  return status.slice(status.lastIndexOf(")") + 2).split(" ")[STARTED_FIELD];
}
