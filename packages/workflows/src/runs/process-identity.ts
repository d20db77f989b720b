import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { isProcessRunning, processStart } from "@cem/files";

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
  return { host: hostIdentity(), pid: process.pid, started: processStart(process.pid) };
}

/** Whether a process runs. `undefined` where that can't be known here: it is another machine's or another container's. */
export function isRunning({ host, pid, started }: ProcessIdentity): boolean | undefined {
  if (host !== hostIdentity()) return undefined;
  if (!isProcessRunning(pid)) return false;
  const now = processStart(pid);
  return started === undefined || now === undefined || now === started;
}

function hostIdentity(): string {
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
