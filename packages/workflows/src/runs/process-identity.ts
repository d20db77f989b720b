import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** A process, so that it can be told from a later one of the same number. */
export interface ProcessIdentity {
  /** Where process numbers mean the same: a boot of a machine and a namespace of processes. */
  host: string;
  pid: number;
  /** When it started, in the system's own count since the boot. Absent where the system does not tell. */
  started?: string | undefined;
}

/** This process. */
export function ownIdentity(): ProcessIdentity {
  return { host: hostIdentity(), pid: process.pid, started: startOf(process.pid) };
}

/** Whether a process runs. `undefined` where that can't be known here: it is another machine's or another container's. */
export function isRunning({ host, pid, started }: ProcessIdentity): boolean | undefined {
  if (host !== hostIdentity()) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EPERM") return false;
  }
  const now = startOf(pid);
  return started === undefined || now === undefined || now === started;
}

function hostIdentity(): string {
  const boot = attempt(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  const processes = attempt(() => readlinkSync("/proc/self/ns/pid"));
  return boot === undefined ? hostname() : `${boot} ${processes ?? ""}`;
}

const START_FIELD = 19;

function startOf(pid: number): string | undefined {
  const status = attempt(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in parentheses, which may hold anything.
  return status?.slice(status.lastIndexOf(")") + 2).split(" ")[START_FIELD];
}

function attempt(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
