import type { ChildProcess } from "node:child_process";

const groups = new Set<ChildProcess>();
const canSignalGroups = process.platform !== "win32";

/** A server started by `npx` or a shell is a grandchild: only a signal to the whole group reaches it. */
export function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    if (canSignalGroups) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // The group is gone already.
  }
}

/** Whether the group still has a process in it. */
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

/** Makes sure the group does not outlive this process, however `process.exit` is reached. */
export function trackGroup(child: ChildProcess): void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.add(child);
}

/** The group has ended. */
export function untrackGroup(child: ChildProcess): void {
  groups.delete(child);
  if (groups.size === 0) process.off("exit", killAll);
}
