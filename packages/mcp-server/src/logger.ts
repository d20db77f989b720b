import { CemError } from "@cem/core";
import { openForAppending } from "@cem/core/files";
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
  /** The file to append to, which only its owner may read; its folder is created. Default: standard error, since standard output is the protocol's. */
  file?: string | undefined;
}

/**
 * Creates a logger that writes one JSON object per line. The server logs no arguments or results of tools and no
 * headers.
 *
 * @throws CemError `LOG_UNWRITABLE` where the file can't be opened.
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

/** Writes synchronously, so that the last lines before a crash are kept. */
function openDestination(file: string | undefined): DestinationStream {
  try {
    return destination({ dest: file === undefined ? STDERR : openForAppending(file), sync: true });
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `The log ${file} can't be written: ${reason}.`;
    throw new CemError("LOG_UNWRITABLE", message, { details: { file }, cause: error });
  }
}
