import type { InitMessage, PingMessage, RunMessage } from "../protocol/host-messages.ts";
import { deno, readStdin, readStdinSync, refOpPromise, unrefOpPromise, writeStdoutSync } from "./deno.ts";
import {
  ByteArray,
  decode,
  encode,
  indexOfByte,
  quote,
  setBytes,
  sliceText,
  subarray,
} from "./primordials.ts";

/** Writes to a pipe are atomic up to this size, so that a worker's output can't interleave with a piece of a frame. */
const PIECE_BYTES = 4_096;
const READ_BYTES = 64 * 1024;
/** The largest buffer that is kept for the next messages. */
const KEPT_BYTES = 1024 * 1024;
const TEXT_CHARACTERS = 32 * 1024;
const NEWLINE = 10;

/** A message from the host, apart from results of calls. The host is trusted; its shape is not checked again. */
export type HostMessage = InitMessage | PingMessage | RunMessage;

let mark = "";
/** The wait for the host's next message. */
let reading: Promise<number> | undefined;
let countsWait = true;

export function useToken(token: string): void {
  mark = `\0cem:${token}:`;
}

function writeAll(bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length;) offset += writeStdoutSync(subarray(bytes, offset));
}

/** Sends one frame, given as JSON, in pieces of `<mark><length>,<1 if last>;<bytes>`. */
export function send(json: string): void {
  const body = encode(json);
  const room = PIECE_BYTES - mark.length - 8;
  for (let offset = 0; offset < body.length; offset += room) {
    const piece = subarray(body, offset, offset + room);
    const last = offset + room >= body.length ? 1 : 0;
    const header = encode(`${mark}${piece.length},${last};`);
    const bytes = new ByteArray(header.length + piece.length);
    setBytes(bytes, header, 0);
    setBytes(bytes, piece, header.length);
    writeAll(bytes);
  }
}

/** Sends the last message of a guest, whose program may have closed the output. */
export function sendLast(message: string): void {
  try {
    send(message);
  } catch {
    deno.exit(1);
  }
}

export function sendReady(): void {
  send(`{"type":"ready","version":${quote(deno.version.deno)}}`);
}

/** Reports work that the program did not await: pieces of work as the items of a JSON array. */
export function sendUnawaited(isStopped: boolean, work: string): void {
  send(`{"type":"unawaited","isStopped":${isStopped},"work":[${work}]}`);
}

/** Sends text for the run's stderr, in order with everything else. */
export function sendStderr(text: string): void {
  for (let offset = 0; offset < text.length; offset += TEXT_CHARACTERS) {
    send(`{"type":"stderr","text":${quote(sliceText(text, offset, offset + TEXT_CHARACTERS))}}`);
  }
}

/** Sends to the host what bypasses the console on its way to stderr, in order with everything else. */
export function redirectStderr(): void {
  const writeSync = (bytes: Uint8Array): number => {
    sendStderr(decode(bytes));
    return bytes.length;
  };
  deno.stderr.writeSync = writeSync;
  deno.stderr.write = async (bytes) => writeSync(bytes);
}

export function writeStdout(text: string): void {
  writeAll(encode(text));
}

/** Sets whether the wait for the host's next message counts as work of the runtime. */
export function countWait(counts: boolean): void {
  countsWait = counts;
  if (reading !== undefined) (counts ? refOpPromise : unrefOpPromise)(reading);
}

function readLater(free: Uint8Array): Promise<number> {
  reading = readStdin(free);
  if (!countsWait) unrefOpPromise(reading);
  return reading;
}

/**
 * Reads one message per line until the host closes the channel.
 *
 * @param hasNothingElse - Resolves, after all immediate follow-up work of a message, to whether nothing can happen
 *   before the next one. If so, this thread blocks on the read: an asynchronous read uses another thread, and wakes two
 *   for each message.
 */
export async function readMessages(receive: (line: string) => void, hasNothingElse: () => Promise<boolean>) {
  let buffer: Uint8Array = new ByteArray(READ_BYTES);
  let used = 0;
  for (;;) {
    if (buffer.length === used) {
      const larger = new ByteArray(buffer.length * 2);
      setBytes(larger, buffer, 0);
      buffer = larger;
    }
    const free = subarray(buffer, used);
    const count = (await hasNothingElse()) ? readStdinSync(free) : await readLater(free);
    if (count === 0) return;
    const end = used + count;
    let start = 0;
    let at = indexOfByte(buffer, NEWLINE, used);
    while (at !== -1 && at < end) {
      receive(decode(subarray(buffer, start, at)));
      start = at + 1;
      at = indexOfByte(buffer, NEWLINE, start);
    }
    if (start > 0) setBytes(buffer, subarray(buffer, start, end), 0);
    used = end - start;
    // Don't keep the buffer of a large message.
    if (buffer.length > KEPT_BYTES && used <= READ_BYTES) {
      const smaller = new ByteArray(READ_BYTES * 2);
      setBytes(smaller, subarray(buffer, 0, used), 0);
      buffer = smaller;
    }
  }
}
