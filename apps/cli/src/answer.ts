import type { Style } from "./text-layout.ts";

/** What a command came to, in the three ways it can be asked for. Exactly one of them is printed. */
export interface Answer {
  exitCode: number;
  /** `--json`: one object, complete. */
  data: object;
  /** For people, on stdout. */
  report: (style: Style) => string[];
  /** `--quiet`: the result alone, on stdout. On a terminal it has to be harmless. */
  brief: (forTerminal: boolean) => string;
  /** What went wrong, on stderr, with and without `--quiet`. */
  complaint?: ((style: Style) => string[]) | undefined;
}
