import type { Style } from "../render/text.ts";
import type { CommandIo } from "./command-io.ts";
import type { Output } from "./terminal.ts";

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

/** The environment of a command: streams, signals and progress. */
export interface CommandContext {
  io: CommandIo;
  /** Aborts when the user or the system asks the command to stop. */
  signal: AbortSignal;
  /** Asks the command to stop, as Ctrl-C does. */
  interrupt: () => void;
  /** Where progress is shown as it happens. Absent when only the answer is wanted. */
  live: Output | undefined;
}
