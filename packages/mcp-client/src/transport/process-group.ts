import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";

/** Variable of the environment by which processes that left their server's group are found. */
export const SERVER_MARK = "CEM_SERVER_PROCESS";

/**
 * Reads until the host says that the group has ended, or is gone itself: then servers get a second to end too. Then ends
 * what has left the group, on Linux.
 */
const WATCH = `read -r _ || { sleep 1; kill -s KILL -- "-$0"; }
for file in $(grep -las "${SERVER_MARK}=$1" /proc/[0-9]*/environ); do
  left=\${file#/proc/}; kill -s KILL "\${left%/environ}"; done`;

/** Running groups, each with the process that ends it when the host is gone. */
const groups = new Map<ChildProcess, ChildProcess | undefined>();
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
  for (const child of groups.keys()) signalGroup(child, "SIGKILL");
}

/** Kills the group when this process exits, or is killed, or its thread ends. */
export function trackGroup(child: ChildProcess, mark: string): void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.set(child, watchHost(child, mark));
}

/** Stops tracking a group that has ended. */
export function untrackGroup(child: ChildProcess): void {
  groups.get(child)?.stdin?.end("\n");
  groups.delete(child);
  if (groups.size === 0) process.off("exit", killAll);
}

function watchHost({ pid }: ChildProcess, mark: string): ChildProcess | undefined {
  if (pid === undefined || !canSignalGroups) return undefined;
  // In a group of its own, so that Ctrl+C does not end it before the servers are closed.
  const watcher = spawn("/bin/sh", ["-c", WATCH, String(pid), mark], {
    stdio: ["pipe", "ignore", "ignore"],
    // Without the mark of a server that this process itself may be.
    env: { PATH: process.env["PATH"] },
    detached: true,
  });
  // Without a shell, only the end of its input ends a server whose host was killed.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  (watcher.stdin as { unref?(): void }).unref?.();
  return watcher;
}
