import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import type { Writable } from "node:stream";

const SYSTEM_FOLDERS = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];

/** The absolute path of a program in the system's folders or on `PATH`; `undefined` when it is not installed. */
export function findProgram(name: string): string | undefined {
  const folders = [...SYSTEM_FOLDERS, ...(process.env["PATH"] ?? "").split(delimiter)];
  for (const folder of folders) {
    if (!folder.startsWith("/")) continue;
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/**
 * Finds the prefix of a command by which the kernel kills its process with the host. A process that is busy, or waits for
 * an answer from its host, does not notice that its input was closed.
 *
 * @param options - More options of `setpriv`.
 * @returns `undefined` where the kernel or the installed `setpriv` can't; {@link trackGroup} is for that.
 */
export function deathSignalPrefix(...options: string[]): string[] | undefined {
  const setpriv = process.platform === "linux" ? findProgram("setpriv") : undefined;
  // BusyBox's version doesn't support it.
  if (setpriv === undefined || basename(realpathSync(setpriv)) !== "setpriv") return undefined;
  return [setpriv, "--pdeathsig", "KILL", ...options, "--"];
}

/** Environment variable that marks the processes of a tracked group, to find those that left it. */
export const GROUP_MARK = "CEM_SERVER_PROCESS";

/** Follows groups until the host is gone, then kills the rest after a second; on Linux also what left an ended group. */
const WATCH = `sweep() {
  for file in $(grep -las "${GROUP_MARK}=$1" /proc/[0-9]*/environ); do
    left=\${file#/proc/}; kill -s KILL "\${left%/environ}"
  done
}
groups=
while read -r what group mark; do
  case $what in
    began) groups="$groups $group:$mark" ;;
    ended) groups="\${groups%% $group:$mark*}\${groups#* $group:$mark}"; sweep "$mark" & ;;
  esac
done
[ -z "$groups" ] || sleep 1
for one in $groups; do kill -s KILL -- "-\${one%%:*}"; sweep "\${one#*:}"; done`;

/** Running groups, each with its mark. */
const groups = new Map<ChildProcess, string>();
/** Ends the groups when the host is gone. Runs while there are groups. */
let watcher: Writable | undefined;
const canSignalGroups = process.platform !== "win32";

/** Sends a signal to a process that leads a group (`detached`), and to all its descendants in that. */
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

/**
 * Kills the group when this process exits, or is killed, or its thread ends.
 *
 * @param mark - The value of {@link GROUP_MARK} in the process's environment, unique.
 */
export function trackGroup(child: ChildProcess, mark: string): void {
  if (groups.size === 0) process.on("exit", killAll);
  groups.set(child, mark);
  if (!canSignalGroups) return;
  if (watcher !== undefined) watcher.write(notice("began", child, mark));
  else {
    watcher = startWatcher();
    for (const [group, itsMark] of groups) watcher.write(notice("began", group, itsMark));
  }
}

/** Stops tracking a group that has ended. */
export function untrackGroup(child: ChildProcess): void {
  const mark = groups.get(child);
  if (mark === undefined) return;
  groups.delete(child);
  watcher?.write(notice("ended", child, mark));
  if (groups.size > 0) return;
  process.off("exit", killAll);
  watcher?.end();
  watcher = undefined;
}

function notice(what: "began" | "ended", { pid }: ChildProcess, mark: string): string {
  return `${what} ${pid} ${mark}\n`;
}

function startWatcher(): Writable {
  // In its own process group, so that Ctrl+C does not end it before the groups are ended.
  const started = spawn("/bin/sh", ["-c", WATCH], {
    stdio: ["pipe", "ignore", "ignore"],
    // Without the mark, since this process may itself be in a tracked group.
    env: { PATH: process.env["PATH"] },
    detached: true,
  });
  const { stdin } = started;
  // Without a shell, a process whose host was killed ends only when its input closes.
  started.on("error", () => {});
  stdin.on("error", () => {});
  // The next group starts a new watcher.
  stdin.on("close", () => {
    if (watcher === stdin) watcher = undefined;
  });
  started.unref();
  (stdin as { unref?(): void }).unref?.();
  return stdin;
}
