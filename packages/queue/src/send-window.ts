/** How many bytes of an answer may be on their way to its reader, in Redis and in the reader's memory. */
export const WINDOW_BYTES = 1_048_576;
/** A part of an answer is no larger. */
const PART_BYTES = WINDOW_BYTES / 8;
/** How much a reader takes before it says so. */
export const TELL_TAKEN_BYTES = WINDOW_BYTES / 4;

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
