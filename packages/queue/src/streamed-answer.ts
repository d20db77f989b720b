import { Readable } from "node:stream";
import type { ForwardedAnswer } from "@cem/core";

/** The parts of an answer that a replica sends, in order. */
export type FromReplica =
  | { type: "head"; status: number; headers: [string, string][]; hasBody: boolean }
  | { type: "chunk"; base64: string }
  | { type: "end" }
  | { type: "broken"; reason: string };

/** An answer whose parts come one after the other. */
export class StreamedAnswer {
  readonly #onTaken: (bytes: number) => void;
  readonly #head = Promise.withResolvers<ForwardedAnswer | undefined>();
  readonly #over = Promise.withResolvers<void>();
  /** Parts that arrived and were not read yet. */
  readonly #parts = new Readable({ objectMode: true, read() {} });
  /** Whether the replica that answers has ended. */
  isComplete = false;

  /** @param onTaken - Called now and then with the number of bytes read in all. */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken;
    this.#head.promise.catch(() => {});
    // Its reader hears of it, if there is one.
    this.#parts.on("error", () => {});
    this.#parts.once("close", () => this.#over.resolve());
  }

  /** `undefined` where the replica was lost before it answered. */
  get head(): Promise<ForwardedAnswer | undefined> {
    return this.#head.promise;
  }

  /** Resolves once nothing more is to come. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  take(message: FromReplica): void {
    if (this.isComplete || this.#parts.destroyed) return;
    if (message.type === "head") {
      const { status, headers, hasBody } = message;
      this.#head.resolve({ status, headers, body: hasBody ? this.#body() : undefined });
    } else if (message.type === "chunk") {
      this.#parts.push(Buffer.from(message.base64, "base64"));
    } else {
      if (message.type === "broken") this.break(message.reason);
      else this.#parts.push(null);
      this.isComplete = true;
      this.#over.resolve();
    }
  }

  lose(): void {
    this.#head.resolve(undefined);
    this.break("the replica of the server that held it is gone");
  }

  break(reason: string): void {
    if (this.isComplete) return;
    const error = new Error(reason);
    this.#head.reject(error);
    this.#parts.destroy(error);
  }

  /** Takes nothing before somebody reads it. */
  #body(): ReadableStream<Uint8Array> {
    const parts = this.#parts[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    let [taken, reported] = [0, 0];
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { value, done } = await parts.next();
      if (done === true) return controller.close();
      controller.enqueue(value);
      taken += value.byteLength;
      if (!this.isComplete && taken - reported >= REPORT_TAKEN_BYTES) this.#onTaken((reported = taken));
    };
    return new ReadableStream({ pull, cancel: () => void this.#parts.destroy() }, { highWaterMark: 0 });
  }
}

/** How many bytes of an answer may be on their way to its reader, in Redis and in the reader's memory. */
export const WINDOW_BYTES = 1_048_576;
/** A part of an answer is no larger. */
const PART_BYTES = WINDOW_BYTES / 8;
/** How much a reader takes before it says so. */
const REPORT_TAKEN_BYTES = WINDOW_BYTES / 4;

/** Holds the sender of an answer back while its reader has taken too little of what was sent. */
export class SendWindow {
  readonly #signal: AbortSignal;
  #sent = 0;
  #taken = 0;
  #changed = Promise.withResolvers<void>();

  /** @param signal - Aborts once nobody reads any longer. */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#changed.resolve(), { once: true });
  }

  /** Notes how many bytes the reader has taken in all. */
  noteTaken(bytes: number): void {
    this.#taken = Math.max(this.#taken, bytes);
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }

  /** Cuts a chunk into parts, each of which comes when there is room for it. Ends early once nobody reads. */
  async *parts(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < chunk.byteLength; at += PART_BYTES) {
      while (this.#sent - this.#taken >= WINDOW_BYTES && !this.#signal.aborted) await this.#changed.promise;
      if (this.#signal.aborted) return;
      const part = chunk.subarray(at, at + PART_BYTES);
      this.#sent += part.byteLength;
      yield part;
    }
  }
}
