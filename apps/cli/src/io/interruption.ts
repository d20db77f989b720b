import os from "node:os";
import { EXIT_FAILED, EXIT_OK } from "../errors.ts";
import { STOP_SIGNALS, type CommandIo, type StopSignal } from "./terminal.ts";

/** How long an interrupted command has to end everything it started, in milliseconds. */
export const GRACE_MS = 800;

export interface StopReason {
  exitCode: number;
  /** The message for people. Empty if there is no reader any more. */
  message: string;
  /** The signal, or the system's error code for standard output: `EPIPE` if its reader is gone. */
  cause: string;
}

const MESSAGES: Readonly<Record<StopSignal, string>> = {
  SIGINT: "Stopped by Ctrl-C.",
  SIGTERM: "Stopped from outside (SIGTERM).",
  SIGHUP: "Stopped: the terminal was closed.",
};

/** Whether and why a command has to stop. */
export type Interruption = ReturnType<typeof watchForInterruption>;

/**
 * Watches for Ctrl-C and similar signals. Only the first signal counts, since a parent process may forward what the
 * terminal has already sent.
 *
 * @param graceMs - Returns the grace period in milliseconds. Called when the signal arrives.
 */
export function watchForInterruption(io: CommandIo, graceMs: () => number = () => GRACE_MS) {
  const controller = new AbortController();
  const grace = Promise.withResolvers<StopReason>();
  let reason: StopReason | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = (found: StopReason): void => {
    if (reason !== undefined) return;
    reason = found;
    controller.abort(new Error(found.message));
    timer = setTimeout(() => grace.resolve(found), graceMs()).unref();
  };
  const stopBy = (signal: StopSignal): void =>
    stop({ exitCode: 128 + os.constants.signals[signal], message: MESSAGES[signal], cause: signal });
  const listeners = STOP_SIGNALS.map((signal) => [signal, () => stopBy(signal)] as const);
  for (const [signal, listener] of listeners) io.on(signal, listener);
  io.stdout.on("error", ({ code = "UNKNOWN", message }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") stop({ exitCode: EXIT_OK, message: "", cause: code });
    else stop({ exitCode: EXIT_FAILED, message: `The output could not be written: ${message}`, cause: code });
  });
  io.stderr.on("error", () => {});
  return {
    /** Aborts at the first signal, or when standard output can't be written. */
    signal: controller.signal,
    /** Resolves when the command has not ended within its grace period after that. */
    graceOver: grace.promise,
    /** Why `signal` aborted, once it has. */
    reason: () => reason,
    /** Does what SIGINT does: for a Ctrl-C that arrives as a key. */
    interrupt: () => stopBy("SIGINT"),
    dispose: (): void => {
      clearTimeout(timer);
      for (const [signal, listener] of listeners) io.off(signal, listener);
    },
  };
}
