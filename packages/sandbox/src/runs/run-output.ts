import { StringDecoder } from "node:string_decoder";
import type { RunRequest } from "@cem/core";

type OutputChunk = Parameters<NonNullable<RunRequest["onOutput"]>>[0];

/** Output beyond the limit times this factor, and beyond the minimum, ends the run as a flood. */
const FLOOD_FACTOR = 64;
const FLOOD_MIN_BYTES = 64 * 1024 * 1024;

/** Collects a run's output up to a limit in bytes and counts what is dropped. */
export class RunOutput {
  readonly #limitBytes: number;
  readonly #floodBytes: number;
  readonly #onChunk: ((chunk: OutputChunk) => void) | undefined;
  readonly #decoders = { stdout: new StringDecoder("utf8"), stderr: new StringDecoder("utf8") };
  #text = "";
  #keptBytes = 0;
  #droppedBytes = 0;
  #chargedBytes = 0;

  constructor(limitBytes: number, onChunk?: (chunk: OutputChunk) => void) {
    this.#limitBytes = limitBytes;
    this.#floodBytes = Math.max(limitBytes * FLOOD_FACTOR, FLOOD_MIN_BYTES);
    this.#onChunk = onChunk;
  }

  /** The output kept, stdout and stderr in the order of arrival. */
  get text(): string {
    return this.#text;
  }

  /** Bytes beyond the limit. */
  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Whether the program printed so much beyond the limit that the run has to end. */
  get isFlood(): boolean {
    return this.#keptBytes + this.#droppedBytes + this.#chargedBytes > this.#floodBytes;
  }

  /** Counts towards a flood what handling a piece of output costs, however short it is. */
  charge(bytes: number): void {
    this.#chargedBytes += bytes;
  }

  add(stream: OutputChunk["stream"], bytes: Buffer): void {
    const room = this.#limitBytes - this.#keptBytes;
    const kept = bytes.length <= room ? bytes : bytes.subarray(0, Math.max(0, room));
    this.#keptBytes += kept.length;
    this.#droppedBytes += bytes.length - kept.length;
    if (kept.length > 0) this.#emit(stream, this.#decoders[stream].write(kept));
  }

  #emit(stream: OutputChunk["stream"], text: string): void {
    if (text === "") return;
    this.#text += text;
    this.#onChunk?.({ stream, text });
  }
}
