import { createHash } from "node:crypto";
import { lstatSync, lutimesSync, mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { CemError } from "../errors.ts";
import { textOfFile } from "./write-files.ts";

/** Index from the state, the first field after the name of the program. */
const STARTED_FIELD = 19;
/** A zombie, which has ended and was not reaped yet, and a process that is exiting. */
const DEAD_STATES = new Set(["Z", "X", "x"]);

/** Whether a process runs on this machine, as any user. `false` for a process that has ended and still has its pid. */
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
 * When a process was started, in kernel ticks since boot: distinguishes two processes with the same pid.
 *
 * @returns `undefined` when the process has ended or the system does not tell.
 */
export function processStart(pid: number): string | undefined {
  const status = statusOf(pid);
  return status === undefined || DEAD_STATES.has(status[0] ?? "") ? undefined : status[STARTED_FIELD];
}

/** The fields of a process's status after the program's name, which is in parentheses and may contain any characters. */
function statusOf(pid: number): string[] | undefined {
  const text = textOfFile(`/proc/${pid}/stat`);
  return text?.slice(text.lastIndexOf(")") + 2).split(" ");
}

/** The part of a name after the prefix: where the pid is known, which earlier versions left out, the pid, and a unique suffix. */
const OF_PROCESS = /^-(?:([\da-f]{8})-)?(\d+)-\w{6}$/;

/** Systems remove temporary files that were not touched for some days. */
const TOUCH_EVERY_MS = 86_400_000;
/** Folders of processes that can't be seen from here, such as those of another container, go when they are older. */
const KEEP_UNTOUCHED_MS = 7 * TOUCH_EVERY_MS;

/** Identifies the PID namespace, whose number is the same on many machines and after each start of one. */
const NAMESPACE = createHash("sha256").update(`${bootId()} ${pidNamespace()}`).digest("hex").slice(0, 8);

/** Identifies the current start of the machine; its name where the system does not tell. */
export function bootId(): string {
  return textOfFile("/proc/sys/kernel/random/boot_id")?.trim() ?? hostname();
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

const made = new Set<string>();
/** Where folders of earlier processes were already removed. */
const swept = new Set<string>();

/** Removes folders of processes that were killed before they could remove them. */
function sweep(below: string, prefix: string): void {
  for (const name of readdirSync(below)) {
    const [found, namespace, pid] =
      (name.startsWith(prefix) && OF_PROCESS.exec(name.slice(prefix.length))) || [];
    if (found === undefined || (namespace === NAMESPACE && isProcessRunning(Number(pid)))) continue;
    const path = join(below, name);
    try {
      if (namespace !== NAMESPACE && lstatSync(path).mtimeMs > Date.now() - KEEP_UNTOUCHED_MS) continue;
      rmSync(path, { recursive: true, force: true });
    } catch {
      // It belongs to another user.
    }
  }
}

function touchMade(): void {
  const now = new Date();
  for (const folder of made) {
    try {
      for (const name of ["", ...(readdirSync(folder, { recursive: true }) as string[])])
        lutimesSync(join(folder, name), now, now);
    } catch {
      // A guest removed one of its files meanwhile.
    }
  }
}

/**
 * Creates a folder that only this user can read. It is removed when the process exits, and protected from the system's
 * cleanup until then.
 *
 * @param below - The folder in which it is made.
 * @param prefix - The beginning of its name.
 * @throws CemError `NOT_WRITABLE` when the system's folder for temporary files can't be used.
 */
export function createProcessFolder(below: string, prefix: string): string {
  if (swept.size === 0) {
    process.once("exit", () => {
      for (const path of made) removeProcessFolder(path);
    });
    setInterval(touchMade, TOUCH_EVERY_MS).unref();
  }
  // Absolute, whatever TMPDIR says, since it is mounted and outlives a change of the working directory.
  const place = resolve(below, prefix);
  try {
    if (!swept.has(place)) sweep(below, prefix);
    swept.add(place);
    const path = mkdtempSync(`${place}-${NAMESPACE}-${process.pid}-`);
    made.add(path);
    return path;
  } catch (error) {
    if (below !== tmpdir()) throw error;
    const reason = String((error as NodeJS.ErrnoException).code);
    const message = `The folder for temporary files can't be used (${reason}). Set TMPDIR to one that is there and can be written.`;
    throw new CemError("NOT_WRITABLE", message, { details: { reason }, cause: error });
  }
}

/** Removes such a folder. Further calls do nothing. */
export function removeProcessFolder(path: string): void {
  made.delete(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}
