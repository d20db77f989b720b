import { isatty } from "node:tty";
import { createColors } from "picocolors";
import type { Style } from "./text-layout.ts";

/** Lines wider than this are hard to read, however wide the window is. */
const MAX_REPORT_COLUMNS = 100;
const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
const STDOUT = 1;
const STDERR = 2;
const CLEAR_LINE = "\r\u001B[K";

/** One of the process's two outputs. */
export interface Output {
  readonly style: Style;
  readonly isTerminal: boolean;
  write(text: string): void;
  /** Shows a line that the next write replaces. Does nothing where lines can't be replaced. */
  writeTransient(line: string): void;
}

export interface Terminal {
  readonly out: Output;
  readonly err: Output;
}

/** `--no-color`, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal that can. */
export function wantsColor(env: NodeJS.ProcessEnv, option: boolean, isTerminal: boolean): boolean {
  if (!option || (env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && env["TERM"] !== "dumb";
}

export function createTerminal(color: boolean): Terminal {
  let transientOn: NodeJS.WriteStream | undefined;
  const clearTransient = (): void => {
    transientOn?.write(CLEAR_LINE);
    transientOn = undefined;
  };
  const createOutput = (stream: NodeJS.WriteStream, descriptor: number): Output => {
    const isTerminal = isatty(descriptor);
    const columns = (isTerminal && stream.columns) || DEFAULT_COLUMNS;
    return {
      isTerminal,
      style: {
        colors: createColors(wantsColor(process.env, color, isTerminal)),
        width: Math.min(Math.max(columns, MIN_COLUMNS), MAX_REPORT_COLUMNS),
      },
      write: (text) => {
        clearTransient();
        stream.write(text);
      },
      writeTransient: (line) => {
        if (!isTerminal || process.env["TERM"] === "dumb") return;
        clearTransient();
        stream.write(line);
        transientOn = stream;
      },
    };
  };
  return { out: createOutput(process.stdout, STDOUT), err: createOutput(process.stderr, STDERR) };
}
