import { readdirSync, readFileSync } from "node:fs";

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
  if (process.platform !== "linux") return isRunning(pid) ? String(pid) : undefined;
  const stat = read(`/proc/${pid}/stat`);
  // After the name, which may contain anything, the 20th field is the start time in ticks since boot.
  const started = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  return started === undefined || started === "" ? undefined : `${pid}-${started}`;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
