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
  readonly #body: ReadableStream<Uint8Array>;
  /** Parts that arrived and were not read yet. */
  readonly #parts: Uint8Array[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Notifies the waiting reader that a part came or that there are no more. */
  #onChange: (() => void) | undefined;
  /** Whether the replica that answers has ended. */
  isComplete = false;
  #isOver = false;
  #taken = 0;
  #reported = 0;

  /** @param onTaken - Called now and then with the number of bytes read in all. */
  constructor(onTaken: (bytes: number) => void) {
    this.#onTaken = onTaken;
    const read = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      while (this.#parts.length === 0 && !this.#isOver)
        await new Promise<void>((resolve) => (this.#onChange = resolve));
      this.#hand(controller);
    };
    this.#body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#controller = controller),
        pull: read,
        cancel: () => {
          this.#controller = undefined;
          this.#end();
        },
      },
      // Nothing is taken before somebody reads it.
      { highWaterMark: 0 },
    );
    this.#head.promise.catch(() => {});
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
    if (this.#isOver) return;
    if (message.type === "head") {
      const { status, headers, hasBody } = message;
      this.#head.resolve({ status, headers, body: hasBody ? this.#body : undefined });
    } else if (message.type === "chunk") {
      this.#parts.push(Buffer.from(message.base64, "base64"));
      this.#onChange?.();
    } else {
      this.isComplete = true;
      if (message.type === "broken") this.break(message.reason);
      else this.#end();
    }
  }

  lose(): void {
    this.#head.resolve(undefined);
    this.break("the replica of the server that held it is gone");
  }

  break(reason: string): void {
    if (this.#isOver) return;
    const error = new Error(reason);
    this.#head.reject(error);
    this.#parts.length = 0;
    this.#controller?.error(error);
    this.#controller = undefined;
    this.#end();
  }

  #hand(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const part = this.#parts.shift();
    if (part !== undefined) {
      controller.enqueue(part);
      this.#taken += part.byteLength;
      if (!this.#isOver && this.#taken - this.#reported >= REPORT_TAKEN_BYTES)
        this.#onTaken((this.#reported = this.#taken));
    }
    if (this.#isOver && this.#parts.length === 0) this.#close();
  }

  #close(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }

  #end(): void {
    this.#isOver = true;
    this.#onChange?.();
    this.#over.resolve();
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
