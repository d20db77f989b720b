import { readdirSync, readFileSync } from "node:fs";
import { isProcessRunning, processStart } from "@cem/core/files";

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** Finds the child process that runs a machine; `undefined` when there is none, or no `/proc`. */
export function findMachineProcess(name: string): number | undefined {
  if (process.platform !== "linux") return undefined;
  for (const task of readdirSync("/proc/self/task")) {
    const children = read(`/proc/self/task/${task}/children`).split(" ").filter(Boolean);
    const found = children.find((pid) => read(`/proc/${pid}/cmdline`).includes(name));
    if (found !== undefined) return Number(found);
  }
  return undefined;
}

/** Identifies a running process, also against earlier ones with the same number; `undefined` when it doesn't run. */
export function processIdentity(pid: number): string | undefined {
  const started = processStart(pid);
  if (started !== undefined) return `${pid}-${started}`;
  return process.platform !== "linux" && isProcessRunning(pid) ? String(pid) : undefined;
}
