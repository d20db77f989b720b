import { fstatSync, statSync } from "node:fs";
import { CemError } from "@cem/core";
import { openForAppending } from "@cem/core/files";
import { destination, pino, type DestinationStream, type Logger } from "pino";

export type { Logger } from "pino";

const PINO_LEVELS = {
  DEBUG: "debug",
  INFO: "info",
  WARNING: "warn",
  ERROR: "error",
  CRITICAL: "fatal",
} as const;
export type LogLevel = keyof typeof PINO_LEVELS;

const STDERR = 2;
/** The time of day: `22:59:02`. */
const CLOCK_CHARACTERS = 8;
/** In a longer entry each fact has its own line. */
const MAX_LINE_CHARACTERS = 96;
/** Limit of buffered lines while the disk is full. */
const MAX_WAITING_BYTES = 1024 * 1024;
/** How often a log looks whether its file was moved. */
const LOOK_EVERY_MS = 1_000;

export interface LoggerSettings {
  /** Default: `INFO`. */
  level?: LogLevel | undefined;
  /**
   * The file to append to, which only its owner may read; its folder is created. Default: standard error, since standard
   * output is reserved for the protocol.
   */
  file?: string | undefined;
}

/**
 * Creates a logger that writes one JSON object per line, or readable text if standard error is a terminal. The server logs
 * no arguments or results of tools and no headers.
 *
 * @throws CemError `LOG_UNWRITABLE` if the file can't be opened.
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

/** Formats a log line for a terminal: the time of day, the message, its facts. */
export function readableLine(line: string): string {
  const { level, time, msg, ...facts } = JSON.parse(line) as Record<string, string>;
  const clock = new Date(String(time)).toTimeString().slice(0, CLOCK_CHARACTERS);
  const head = level === "info" ? [clock, msg] : [clock, level, msg];
  const shown = Object.entries(facts).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const one = [...head, ...shown.map((fact) => fact.join(" "))].join("  ");
  const width = Math.max(0, ...shown.map(([name = ""]) => name.length)) + 2;
  const rows = shown.map(
    ([name = "", value]) => `${" ".repeat(CLOCK_CHARACTERS + 2)}${name.padEnd(width)}${value}`,
  );
  const lines = one.length <= MAX_LINE_CHARACTERS ? [one] : [head.join("  "), ...rows];
  // Facts may contain untrusted text, which must not control the terminal.
  return lines.map((text) => `  ${text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "\uFFFD")}`).join("\n");
}

/** Writes synchronously, so that the last lines before a crash are kept. A line that can't be written is retried with the next one. */
function openDestination(file: string | undefined): DestinationStream {
  const unwritable = (error: unknown): string =>
    `The log ${file} can't be written: ${error instanceof Error ? error.message : String(error)}.`;
  let isTold = false;
  const warnOnce = (error: unknown): void => {
    if (!isTold) process.emitWarning(unwritable(error), "CemWarning");
    isTold = true;
  };
  try {
    if (file === undefined && process.stderr.isTTY)
      return { write: (line) => void process.stderr.write(`${readableLine(line)}\n`) };
    return file === undefined ? openStream(STDERR, () => {}) : openMovable(file, warnOnce);
  } catch (error) {
    throw new CemError("LOG_UNWRITABLE", unwritable(error), { details: { file }, cause: error });
  }
}

function openStream(dest: number, onError: (error: unknown) => void) {
  const stream = destination({ dest, sync: true, maxLength: MAX_WAITING_BYTES });
  // An unhandled error event would end the process.
  stream.on("error", onError);
  return stream;
}

/** Opens a file anew once it was moved or removed, as tools that rotate logs do. */
function openMovable(file: string, onError: (error: unknown) => void): DestinationStream {
  const open = () => {
    const descriptor = openForAppending(file);
    return { stream: openStream(descriptor, onError), ino: fstatSync(descriptor).ino };
  };
  let opened = open();
  let lookAt = performance.now() + LOOK_EVERY_MS;
  const follow = (): void => {
    lookAt = performance.now() + LOOK_EVERY_MS;
    if (statSync(file, { throwIfNoEntry: false })?.ino === opened.ino) return;
    const { stream } = opened;
    opened = open();
    stream.end();
  };
  return {
    write(line) {
      try {
        if (performance.now() >= lookAt) follow();
      } catch (error) {
        // It goes on in the file that it has.
        onError(error);
      }
      opened.stream.write(line);
    },
  };
}
