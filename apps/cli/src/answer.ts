import type { Style } from "./text-layout.ts";

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
