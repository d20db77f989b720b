import type { Readable, Writable } from "node:stream";
import { createColors } from "picocolors";
import { cut, oneLine, safeText, type Style } from "../render/text.ts";

export const STOP_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type StopSignal = (typeof STOP_SIGNALS)[number];

export type InputStream = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };
export type OutputStream = Writable & { isTTY?: boolean; columns?: number };

/**
 * The streams of a command, and the signals that stop it. `process` is one. Environment and working directory are those of
 * the process, since tools and servers read them there.
 */
export interface CommandIo {
  readonly stdin: InputStream;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** Lines wider than this are hard to read, however wide the window is. */
const MAX_REPORT_COLUMNS = 100;
const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
/** Servers are named in a line that a terminal of the default width shows whole. */
const MAX_NAMES_COLUMNS = 26;
/** Without a terminal, lines can't be replaced, so they are written less often. */
const PLAIN_WAIT_SECONDS = 10;
const CLEAR_LINE = "\r\u001B[K";

/** Standard output or standard error. */
export interface Output {
  readonly style: Style;
  readonly isTerminal: boolean;
  write(text: string): void;
  /** Shows a line that the next write replaces. Does nothing if lines can't be replaced. */
  writeTransient(line: string): void;
}

/** Whether to use colours, decided by `--no-color`, then NO_COLOR, FORCE_COLOR, and the terminal's capabilities. */
export function wantsColor(env: NodeJS.ProcessEnv, option: boolean, isTerminal: boolean): boolean {
  if (!option || (env["NO_COLOR"] ?? "") !== "") return false;
  const forced = env["FORCE_COLOR"];
  if (forced !== undefined) return forced !== "0" && forced !== "false";
  return isTerminal && env["TERM"] !== "dumb";
}

/**
 * Shows the servers that are waited for, with the elapsed time, until the work settles.
 *
 * @param servers - Those that have not started yet, when the line is written.
 */
export async function showStarting<T>(
  output: Output | undefined,
  servers: Iterable<string>,
  work: Promise<T>,
): Promise<T> {
  const began = Date.now();
  const timer = setInterval(() => {
    const seconds = Math.round((Date.now() - began) / 1_000);
    const names = cut(oneLine([...servers].join(", ")), MAX_NAMES_COLUMNS);
    const line = `  starting   ${names}: a first start may take minutes, ${seconds} s`;
    if (output?.isTerminal === false && seconds % PLAIN_WAIT_SECONDS === 0) output.write(`${line}\n`);
    else output?.writeTransient(line);
  }, 1_000);
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/**
 * Holds everything written to standard output, so that none of it can erase an open question, or look like another one.
 *
 * @returns a function that writes it.
 */
export function holdOutput({ io: { stdout }, live }: Pick<CommandContext, "io" | "live">): () => void {
  // Clears a transient line, which the question would be appended to, and be cleared with.
  live?.write("");
  stdout.cork();
  return () => stdout.uncork();
}

/** Writes a line of the log to standard error, after an open question is answered. */
export function writeLog({ stdout, stderr }: CommandIo, line: string): void {
  const write = (): void => void stderr.write(`${safeText(line)}\n`);
  if (stdout.writableCorked === 0) write();
  else stdout.write("", write);
}

export type Terminal = ReturnType<typeof createTerminal>;

export function createTerminal({ stdout, stderr }: CommandIo, color: boolean) {
  let transientOn: OutputStream | undefined;
  const clearTransient = (): void => {
    transientOn?.write(CLEAR_LINE);
    transientOn = undefined;
  };
  const createOutput = (stream: OutputStream): Output => {
    const isTerminal = stream.isTTY === true;
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
  return {
    out: createOutput(stdout),
    err: createOutput(stderr),
    /** Resolves when everything is written, or could not be. */
    flush: () =>
      new Promise<void>((resolve) => {
        // An unanswered question may have outlasted the command.
        while (stdout.writableCorked > 0) stdout.uncork();
        stdout.write("", () => stderr.write("", () => setImmediate(resolve)));
      }),
  };
}

/** The outcome of a command in three formats, exactly one of which is printed. */
export interface Answer {
  exitCode: number;
  /** For `--json`: one complete object. */
  data: object;
  /** The lines for people, on stdout. */
  report: (style: Style) => string[];
  /** For `--quiet`: only the result, on stdout. Escaped for a terminal. */
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
  /** The output for live progress. Absent if only the answer is wanted. */
  live: Output | undefined;
}
