import type { ChildProcess } from "node:child_process";

const groups = new Set<ChildProcess>();
const canSignalGroups = process.platform !== "win32";

/** Sends a signal to a process and all its descendants. A server started by `npx` or a shell is a grandchild. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (canSignalGroups) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // The group has ended already.
  }
}

/** Whether a process of the group is still running. */
export function isGroupAlive(child: ChildProcess): boolean {
  if (child.pid === undefined) return false;
  try {
    process.kill(canSignalGroups ? -child.pid : child.pid, 0);
    return true;
  } catch {
    return false;
  }
}

function killAll(): void {
  for (const child of groups) signalGroup(child, "SIGKILL");
}

/** Kills the group when this process exits. */
export function trackGroup(child: ChildProcess): void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.add(child);
}

/** Stops tracking a group that has ended. */
export function untrackGroup(child: ChildProcess): void {
  groups.delete(child);
  if (groups.size === 0) process.off("exit", killAll);
}
