import { createReadStream } from "node:fs";
import { CemError } from "@cem/core";
import { MISUSE } from "./exit-codes.ts";

/** The most that is read as a task or a program, in bytes. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/**
 * Reads a text file, or stdin for `-`. `what` names it in messages: `code`, `task`.
 *
 * @throws CemError `FILE_NOT_FOUND`, `FILE_UNREADABLE`, `INPUT_TOO_LARGE`, `INPUT_NOT_UTF8`, `INPUT_EMPTY`
 */
export async function readInput(file: string, what: "code" | "task", signal: AbortSignal): Promise<string> {
  const name = file === "-" ? "stdin" : file;
  const bytes = await readBytes(file, name, signal);
  const text = decode(bytes, name);
  requireText(text, what, name);
  return text;
}

/** Refuses a task or program that is empty, or was broken on its way here. */
export function requireText(text: string, what: "code" | "task" | "query", name: string): void {
  if (text.trim() === "") {
    throw new CemError(MISUSE.inputEmpty, `There is no ${what}: ${name} is empty.`, {
      details: { from: name },
    });
  }
}

/** Refuses arguments whose bytes were not UTF-8: Node has put U+FFFD in their place. */
export function requireIntact(text: string, what: "task" | "query"): void {
  if (text.includes("\uFFFD")) {
    throw new CemError(
      MISUSE.inputNotUtf8,
      `The ${what} is not valid UTF-8. Check the terminal's locale (LANG), or give it as UTF-8 on stdin.`,
    );
  }
}

async function readBytes(file: string, name: string, signal: AbortSignal): Promise<Buffer> {
  if (file === "-" && process.stdin.isTTY) {
    process.stderr.write("Reading from the keyboard. End with Ctrl-D on a line of its own.\n");
  }
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    const stream = file === "-" ? process.stdin : createReadStream(file);
    const stop = (): void => void stream.destroy(new Error("stopped"));
    signal.addEventListener("abort", stop, { once: true });
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_INPUT_BYTES) throw tooLarge(name);
    }
    signal.removeEventListener("abort", stop);
  } catch (error) {
    signal.throwIfAborted();
    throw CemError.isInstance(error) ? error : unreadable(name, error);
  }
  return Buffer.concat(chunks, length);
}

function tooLarge(name: string): CemError {
  const limit = `${MAX_INPUT_BYTES / 1024 / 1024} MiB`;
  return new CemError(MISUSE.inputTooLarge, `${name} is larger than ${limit}, the most that is read.`, {
    details: { from: name, limitBytes: MAX_INPUT_BYTES },
  });
}

function unreadable(name: string, cause: unknown): CemError {
  const { code = "", message } = cause as NodeJS.ErrnoException;
  const options = { details: { file: name, reason: code }, cause };
  switch (code) {
    case "ENOENT":
      return new CemError(
        MISUSE.fileNotFound,
        `${name} is not there. Check the path and its spelling.`,
        options,
      );
    case "EISDIR":
      return new CemError(
        MISUSE.fileUnreadable,
        `${name} is a folder. Give a TypeScript file in it.`,
        options,
      );
    case "EACCES":
    case "EPERM":
      return new CemError(MISUSE.fileUnreadable, `${name} may not be read. Check its permissions.`, options);
    default:
      return new CemError(MISUSE.fileUnreadable, `${name} can't be read: ${message}`, options);
  }
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const options = { details: { from: name }, cause };
    throw new CemError(
      MISUSE.inputNotUtf8,
      `${name} is not UTF-8 text. Save it as UTF-8 and try again.`,
      options,
    );
  }
}
