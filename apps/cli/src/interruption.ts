import os from "node:os";
import { EXIT_FAILED, EXIT_OK } from "./exit-codes.ts";

/** A run that was stopped has this long to end everything it started. */
export const GRACE_MS = 800;

export interface Interruption {
  /** Aborts when the user or the system asks to stop. */
  readonly signal: AbortSignal;
  /** What asked, once something has. */
  readonly reason: () => StopReason | undefined;
}

export interface StopReason {
  exitCode: number;
  /** What to say, if anybody is still reading. */
  message: string;
  /** `SIGINT`, `SIGTERM`, `SIGHUP`, or the code of what stdout met: `EPIPE` when nobody reads it. */
  cause: string;
}

const MESSAGES: Record<string, string> = {
  SIGINT: "Stopped by Ctrl-C.",
  SIGTERM: "Stopped from outside (SIGTERM).",
  SIGHUP: "Stopped: the terminal was closed.",
};

/**
 * Watches for Ctrl-C and its like. The first one aborts `signal`; when the program has not ended by itself
 * after a moment (or `graceMs`), `giveUp` is called. More of them change nothing: a parent may pass on what the terminal
 * has sent already.
 */
export function watchForInterruption(
  giveUp: (reason: StopReason) => void,
  graceMs: () => number = () => GRACE_MS,
): Interruption {
  const controller = new AbortController();
  let reason: StopReason | undefined;
  const stop = (found: StopReason): void => {
    if (reason !== undefined) return;
    reason = found;
    controller.abort(new Error(found.message));
    setTimeout(() => giveUp(found), graceMs()).unref();
  };
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const exitCode = 128 + os.constants.signals[name];
    process.on(name, () => stop({ exitCode, message: MESSAGES[name] ?? name, cause: name }));
  }
  process.stdout.on("error", ({ code = "UNKNOWN", message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") stop({ exitCode: EXIT_OK, message: "", cause: code });
    else stop({ exitCode: EXIT_FAILED, message: `The output could not be written: ${message}`, cause: code });
  });
  process.stderr.on("error", () => {});
  return { signal: controller.signal, reason: () => reason };
}
