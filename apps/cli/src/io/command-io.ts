import type { Readable, Writable } from "node:stream";
import type { Style } from "../render/text-layout.ts";
import type { Output } from "./terminal.ts";

/** Signals that ask a command to stop. */
export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

export type InputStream = Readable & { isTTY?: boolean };
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/**
 * What a command reads, what it writes to, and the signals that stop it. `process` is one. Environment and working
 * directory are those of the process: the tools and servers that a command calls read them there.
 */
export interface CommandIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** The outcome of a command, in the three forms it can be asked for. Exactly one of them is printed. */
export interface Answer {
  exitCode: number;
  /** For `--json`: one object, complete. */
  data: object;
  /** The lines for people, on stdout. */
  report: (style: Style) => string[];
  /** For `--quiet`: the result alone, on stdout. For a terminal it is escaped. */
  brief: (forTerminal: boolean) => string;
  /** The error, on stderr, with and without `--quiet`. */
  complaint?: ((style: Style) => string[]) | undefined;
}

/** What a command is given beside its arguments. */
export interface CommandContext {
  io: CommandIo;
  /** Aborts when the user or the system asks the command to stop. */
  signal: AbortSignal;
  /** Asks the command to stop, as Ctrl-C does. */
  interrupt: () => void;
  /** Where progress is shown as it happens. Absent when only the answer is wanted. */
  live: Output | undefined;
}

/** A command with its arguments. */
export type RunCommand = (context: CommandContext) => Promise<Answer>;
