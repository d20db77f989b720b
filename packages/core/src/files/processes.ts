import { readFileSync } from "node:fs";

/** Counted from the state, which is the first field behind the name of the program. */
const STARTED_FIELD = 19;
/** A zombie, which has ended and waits for its parent to ask how, and one that is going. */
const DEAD_STATES = new Set(["Z", "X", "x"]);

/** Whether a process of this machine runs, of whatever user. One that has ended does not, though it may still have its number. */
export function isProcessRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const [state = ""] = statusOf(pid) ?? [];
  return !DEAD_STATES.has(state);
}

/**
 * When a process was started, in the kernel's own count since the boot: two processes of one number have different ones.
 *
 * @returns `undefined` where the process has ended, or the system does not say.
 */
export function processStart(pid: number): string | undefined {
  const status = statusOf(pid);
  return status === undefined || DEAD_STATES.has(status[0] ?? "") ? undefined : status[STARTED_FIELD];
}

/** The fields of a process's status behind the name of its program, which may hold anything and is in parentheses. */
function statusOf(pid: number): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
