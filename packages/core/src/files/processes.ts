import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Counted from the state, which is the first field behind the name of the program. */
const STARTED_FIELD = 19;
/** A zombie, which has ended and waits for its parent to ask how, and one that is going. */
const DEAD_STATES = new Set(["Z", "X", "x"]);

/** Identity of a process, which distinguishes it from a later one of the same number. */
export interface ProcessIdentity {
  /** Where process numbers mean the same: a boot of a machine and a namespace of processes. */
  host: string;
  pid: number;
  /** When it started, in the system's own count since the boot. Absent where the system does not say. */
  started?: string | undefined;
}

let own: ProcessIdentity | undefined;

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return (own ??= { host: findHost(), pid: process.pid, started: processStart(process.pid) });
}

/**
 * Whether a process runs. `undefined` where that can't be known: it is another machine's or another container's, or the system
 * does not say whether the process of this number is the one that was meant.
 */
export function isRunning({ host, pid, started }: ProcessIdentity): boolean | undefined {
  if (host !== ownIdentity().host) return undefined;
  if (!isProcessRunning(pid)) return false;
  const now = processStart(pid);
  return started === undefined || now === undefined ? undefined : now === started;
}

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
  const text = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

function findHost(): string {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const processes = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return boot === undefined ? hostname() : `${boot} ${processes ?? ""}`;
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
