import { StringDecoder } from "node:string_decoder";
import type { RunRequest } from "@cem/core";

type OutputChunk = Parameters<NonNullable<RunRequest["onOutput"]>>[0];

/** Output beyond the limit times this factor, and beyond the minimum, ends the run as a flood. */
const FLOOD_FACTOR = 64;
const FLOOD_MIN_BYTES = 64 * 1024 * 1024;

/** Collects a run's output up to a limit in bytes and counts what is dropped. */
export function createRunOutput(limitBytes: number, onChunk?: (chunk: OutputChunk) => void) {
  const floodBytes = Math.max(limitBytes * FLOOD_FACTOR, FLOOD_MIN_BYTES);
  const decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  let text = "";
  let keptBytes = 0;
  let droppedBytes = 0;
  let chargedBytes = 0;

  return {
    /** The output kept, stdout and stderr in the order of arrival. */
    get text() {
      return text;
    },
    /** Bytes beyond the limit. */
    get droppedBytes() {
      return droppedBytes;
    },
    /** Whether the program printed so far beyond the limit that the run has to end. */
    get isFlood() {
      return keptBytes + droppedBytes + chargedBytes > floodBytes;
    },
    /** Counts the cost of handling a piece of output, however short, towards a flood. */
    charge(bytes: number): void {
      chargedBytes += bytes;
    },
    add(stream: OutputChunk["stream"], bytes: Buffer): void {
      const room = limitBytes - keptBytes;
      const kept = bytes.length <= room ? bytes : bytes.subarray(0, Math.max(0, room));
      keptBytes += kept.length;
      droppedBytes += bytes.length - kept.length;
      const added = decoders[stream].write(kept);
      if (added === "") return;
      text += added;
      onChunk?.({ stream, text: added });
    },
  };
}
