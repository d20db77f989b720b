import { CemError } from "@cem/core";
import { destination, pino } from "pino";
import type { DestinationStream, Logger } from "pino";

export type { Logger } from "pino";

export const LOG_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const PINO_LEVELS: Readonly<Record<LogLevel, string>> = {
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  ERROR: "error",
  CRITICAL: "fatal",
};
const STDERR = 2;

export interface LoggerSettings {
  /** Default: `INFO`. */
  level?: LogLevel | undefined;
  /** Appended to, its folder is made. Default: standard error; standard output belongs to the protocol. */
  file?: string | undefined;
}

/**
 * A log of one JSON object per line. What tools were given and answered is never in it, nor what a header held.
 *
 * @throws CemError `LOG_UNWRITABLE`
 */
export function createLogger({ level = "INFO", file }: LoggerSettings = {}): Logger {
  const options = {
    level: PINO_LEVELS[level],
    base: null,
    redact: ["headers", "authorization", "*.authorization"],
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return pino(options, openDestination(file));
}

/** Written at once: what was logged last before a crash is what matters. */
function openDestination(file: string | undefined): DestinationStream {
  try {
    return destination({ dest: file ?? STDERR, sync: true, mkdir: file !== undefined });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The log ${file} can't be written: ${reason}. Set logging.file to a file that can be.`;
    throw new CemError("LOG_UNWRITABLE", message, { details: { file }, cause: error });
  }
}
