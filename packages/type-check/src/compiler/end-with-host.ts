import { spawn, type ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import path from "node:path";

/** Of util-linux; a busybox of this name can't do it. */
const SETPRIV = "/usr/bin/setpriv";
/** Reads until the host says that the process has ended, or is gone itself. */
const WATCH = 'read -r _ || kill -9 "$0"';

const running = new Set<ChildProcess>();

/** Ends a process when the host exits. */
export function endOnExit(child: ChildProcess): void {
  if (running.size === 0) process.once("exit", endRunning);
  running.add(child);
  const forget = (): void => {
    running.delete(child);
    if (running.size === 0) process.off("exit", endRunning);
  };
  child.once("close", forget).once("error", forget);
}

function endRunning(): void {
  for (const child of running) child.kill("SIGKILL");
}

/**
 * Finds what to put in front of a command so that the kernel ends it with its host.
 *
 * A process that waits for an answer of its host does not notice that its input was closed.
 *
 * @returns `undefined` where the kernel can't, and {@link watchHost} is needed.
 */
export function deathSignalPrefix(): string[] | undefined {
  // Windows ends the children of a process with it.
  if (process.platform === "win32") return [];
  if (process.platform !== "linux") return undefined;
  try {
    const isSetpriv = path.basename(realpathSync(SETPRIV)) === "setpriv";
    return isSetpriv ? [SETPRIV, "--pdeathsig", "KILL", "--"] : undefined;
  } catch {
    return undefined;
  }
}

/** Starts a process that ends another one when the host is gone. */
export function watchHost(watched: ChildProcess): void {
  if (watched.pid === undefined) return;
  const watcher = spawn("/bin/sh", ["-c", WATCH, String(watched.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a shell, only the end of its input ends the process.
  watcher.on("error", () => {});
  watcher.stdin.on("error", () => {});
  watcher.unref();
  (watcher.stdin as { unref?(): void }).unref?.();
  watched.once("exit", () => watcher.stdin.end("\n"));
}
