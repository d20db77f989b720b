import { closeSync, openSync, readFileSync, statSync, unlinkSync, writeSync } from "node:fs";
import { isProcessRunning } from "@cem/files";

/** How long the lock of a process that is gone without a trace is respected. */
const STALE_MS = 5_000;
const WAIT_MS = 2;
const MAX_WAIT_MS = 15_000;
const pause = new Int32Array(new SharedArrayBuffer(4));

/** Does something while no other process does. The lock is held for well under a millisecond, so that waiting is short. */
export function withFileLock<Result>(file: string, work: () => Result): Result {
  const began = performance.now();
  while (!take(file)) {
    if (performance.now() - began > MAX_WAIT_MS) throw new Error(`Another process holds ${file}.`);
    Atomics.wait(pause, 0, 0, WAIT_MS);
  }
  try {
    return work();
  } finally {
    unlinkSync(file);
  }
}

function take(file: string): boolean {
  try {
    const descriptor = openSync(file, "wx", 0o600);
    writeSync(descriptor, String(process.pid));
    closeSync(descriptor);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    if (isStale(file)) unlinkIfThere(file);
    return false;
  }
}

/** Whether the process that holds a lock is gone. */
function isStale(file: string): boolean {
  try {
    const owner = Number(readFileSync(file, "utf8"));
    const ageMs = Date.now() - statSync(file).mtimeMs;
    return owner > 0 ? !isProcessRunning(owner) : ageMs > STALE_MS;
  } catch {
    // Another process has removed it.
    return false;
  }
}

function unlinkIfThere(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Another process has removed it.
  }
}
