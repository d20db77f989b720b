import type { Config, LoadedConfig } from "@cem/config";
import { appendPrivately } from "@cem/core/files";
import type { Logger } from "@cem/mcp-server";

const LEVELS = ["debug", "info", "warning", "error", "critical"] as const;
export type LogLevel = (typeof LEVELS)[number];

/** Writes one message to the log. */
export type Log = (level: LogLevel, message: string) => void;

/**
 * The log that the configuration asks for. It never goes to stdout.
 *
 * @param write - Receives the lines where `logging.file` names no file. Default: standard error.
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

/** Logs what of a configuration is ignored. */
export function logWarnings({ warnings }: Pick<LoadedConfig, "warnings">, log: Log): void {
  for (const warning of warnings) log("warning", warning);
}

/** Does something, and logs when it began and how it ended. */
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

/** Writes to a file; once that fails, to `instead`, so that a full disk does not end the run. */
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

/** Why the log file can't be written, before there is something to log. It is made where it is missing. */
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

/** Makes one line without control characters, since servers write to the log what they like. */
function oneHarmlessLine(text: string): string {
  return text.trimEnd().replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\n") return " | ";
    if (character === "\t") return " ";
    return `<U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
  });
}

/** The log of a server or worker, one JSON object a line. Loaded when used: running tasks does not need it. */
export async function loggerOf({ logging: { level, file } }: Config): Promise<Logger> {
  const { createLogger } = await import("@cem/mcp-server");
  return createLogger({ level, file });
}

/** Writes what an agent logs to the server's log. */
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
