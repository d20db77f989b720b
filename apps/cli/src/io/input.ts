import { constants, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { addAbortSignal, type Readable } from "node:stream";
import { CemError } from "@cem/core";
import type { CommandContext, CommandIo } from "./terminal.ts";

/** Maximum size of a task or a program, in bytes. */
const MAX_INPUT_BYTES = 4 * 1024 * 1024;

/**
 * Reads a text file, or standard input for `-`.
 *
 * @param what - Names the text in messages.
 * @throws CemError `USAGE`, `FILE_UNREADABLE`, `INPUT_TOO_LARGE`, `INPUT_NOT_UTF8`, `INPUT_EMPTY`, or the file system's
 *   error.
 */
export async function readInput(
  file: string,
  what: "code" | "task" | "form" | "data",
  context: CommandContext,
): Promise<string> {
  if (file === "") throw new CemError("USAGE", "The file's name is empty. Give a file, or - for stdin.");
  const name = file === "-" ? "stdin" : file;
  const bytes = await readBytes(file, name, context);
  const text = decode(bytes, name);
  requireText(text, what, name);
  return text;
}

function requireText(text: string, what: string, name: string): void {
  if (text.trim() !== "") return;
  const details = { from: name };
  throw new CemError("INPUT_EMPTY", `There is no ${what}: ${name} is empty.`, { details });
}

/**
 * Refuses an argument that is empty or was not valid UTF-8, for which Node.js has inserted U+FFFD.
 *
 * @throws CemError `INPUT_EMPTY` or `INPUT_NOT_UTF8`
 */
export function requireWords(text: string, what: "task" | "query"): void {
  requireText(text, what, "the argument");
  if (!text.includes("\uFFFD")) return;
  const message = `The ${what} is not valid UTF-8. Check the terminal's locale (LANG), or give it as UTF-8 on stdin.`;
  throw new CemError("INPUT_NOT_UTF8", message);
}

async function readBytes(file: string, name: string, { io, signal }: CommandContext): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  const stream = addAbortSignal(signal, await openInput(file, name, io));
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_INPUT_BYTES) {
      const message = `${name} is larger than ${MAX_INPUT_BYTES / 1024 / 1024} MiB, the most that is read.`;
      const details = { from: name, limitBytes: MAX_INPUT_BYTES };
      throw new CemError("INPUT_TOO_LARGE", message, { details });
    }
  }
  return Buffer.concat(chunks, length);
}

async function openInput(file: string, name: string, { stdin, stderr }: CommandIo): Promise<Readable> {
  if (file === "-") {
    if (stdin.isTTY === true)
      stderr.write("Reading from the keyboard. End with Ctrl-D on a line of its own.\n");
    return stdin;
  }
  const found = await stat(file);
  // Opening a pipe without a writer would block a thread and thereby the exit of this process.
  if (found.isFIFO()) return new Socket({ fd: openSync(file, constants.O_RDONLY | constants.O_NONBLOCK) });
  if (found.isFile()) return createReadStream(file);
  const message = `${name} is not a file. Give a file, or - to read stdin.`;
  throw new CemError("FILE_UNREADABLE", message, { details: { file: name } });
}

function decode(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    const message = `${name} is not UTF-8 text. Save it as UTF-8 and try again.`;
    throw new CemError("INPUT_NOT_UTF8", message, { details: { from: name }, cause });
  }
}
