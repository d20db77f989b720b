import type { Config, LoadedConfig } from "@cem/config";
import { callListener, toErrorInfo } from "@cem/core";
import { appendPrivately } from "@cem/core/files";
import type { Logger } from "@cem/mcp-server";

const LEVELS = ["debug", "info", "warning", "error", "critical"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Writes one message to the log. */
export type Log = (level: LogLevel, message: string) => void;

/**
 * Creates the configured log. It never writes to stdout.
 *
 * @param write - Receives the lines if `logging.file` is not set. Default: standard error.
 */
export function createLog({ logging }: Config, write: (line: string) => void = writeToStderr): Log {
  const least = LEVELS.findIndex((level) => level === logging.level.toLowerCase());
  const { file } = logging;
  const put = file === undefined ? write : fileWriter(file, write);
  return (level, message) => {
    if (LEVELS.indexOf(level) < least) return;
    put(`${new Date().toISOString()} ${level.toUpperCase().padEnd(8)} ${oneHarmlessLine(message)}`);
  };
}

/** The log of an agent. A function of the caller that throws must not end a run, whose calls may have been made. */
export function logOf(
  config: Config,
  { log, onLog }: { log?: Log | undefined; onLog?: ((line: string) => void) | undefined },
): Log {
  const write: Log = log ?? createLog(config, onLog);
  const warn = (error: unknown): void =>
    process.emitWarning(`The log threw: ${toErrorInfo(error).message}`, "CemWarning");
  return (level, message) => callListener(() => write(level, message), warn);
}

export function logWarnings({ warnings }: Pick<LoadedConfig, "warnings">, log: Log): void {
  for (const warning of warnings) log("warning", warning);
}

export async function logged<Result>(log: Log, what: string, work: () => Promise<Result>): Promise<Result> {
  const began = performance.now();
  const ms = (): string => `${Math.round(performance.now() - began)} ms`;
  log("debug", `${what} began`);
  try {
    const result = await work();
    log("info", `${what} ended, ${ms()}`);
    return result;
  } catch (error) {
    log("error", `${what} failed after ${ms()}: ${error instanceof Error ? error.message : String(error)}`);
    throw error;
  }
}

function writeToStderr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Writes to a file, or to `instead` after the first failure, so that a full disk does not end the run. */
function fileWriter(file: string, instead: (line: string) => void): (line: string) => void {
  let isBroken = false;
  return (line) => {
    if (isBroken) return instead(line);
    try {
      appendPrivately(file, `${line}\n`);
    } catch (error) {
      isBroken = true;
      instead(unwritable(file, error));
      instead(line);
    }
  };
}

function unwritable(file: string, error: unknown): string {
  return `The log ${file} can't be written: ${error instanceof Error ? error.message : String(error)}`;
}

/** Checks up front whether the log file is writable, creating it if missing. Returns the reason if it is not. */
export function logFileWarnings({ config: { logging } }: Pick<LoadedConfig, "config">): string[] {
  const { file } = logging;
  if (file === undefined) return [];
  try {
    appendPrivately(file, "");
    return [];
  } catch (error) {
    return [`${unwritable(file, error)}. Set logging.file (LOG_FILE) to a file that can be written.`];
  }
}

/** Reduces untrusted text from servers to one line without control characters. */
function oneHarmlessLine(text: string): string {
  return text.trimEnd().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\n") return " | ";
    if (character === "\t") return " ";
    return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** The log of a server or worker, one JSON object per line. Loaded on first use, since running tasks does not need it. */
export async function loggerOf({ logging: { level, file } }: Config): Promise<Logger> {
  const { createLogger } = await import("@cem/mcp-server");
  return createLogger({ level, file });
}

export function logTo(logger: Logger): Log {
  const methods = {
    debug: "debug",
    info: "info",
    warning: "warn",
    error: "error",
    critical: "fatal",
  } as const;
  return (level, message) => logger[methods[level]]({ from: "agent" }, message);
}
