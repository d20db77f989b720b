import { Readable } from "node:stream";
import type { ForwardedAnswer } from "@cem/core";

/** The parts of an answer that a replica sends, in order. */
export type FromReplica =
  | { type: "head"; status: number; headers: [string, string][]; hasBody: boolean }
  | { type: "chunk"; base64: string }
  | { type: "end" }
  | { type: "broken"; reason: string };

/** Creates an answer that is received in parts. @param onTaken - Called occasionally with the total number of bytes read. */
export function streamAnswer(onTaken: (bytes: number) => void) {
  const head = Promise.withResolvers<ForwardedAnswer | undefined>();
  const over = Promise.withResolvers<void>();
  /** Parts that have arrived but were not read yet. */
  const parts = new Readable({ objectMode: true, read() {} });
  let isComplete = false;

  head.promise.catch(() => {});
  // The reader, if any, gets the error.
  parts.on("error", () => {});
  parts.once("close", () => over.resolve());

  function fail(reason: string): void {
    if (isComplete) return;
    const error = new Error(reason);
    head.reject(error);
    parts.destroy(error);
  }

  /** Lazy: takes nothing before somebody reads it. */
  function body(): ReadableStream<Uint8Array> {
    const unread = parts[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
    let [taken, reported] = [0, 0];
    const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
      const { value, done } = await unread.next();
      if (done === true) return controller.close();
      controller.enqueue(value);
      taken += value.byteLength;
      if (!isComplete && taken - reported >= REPORT_TAKEN_BYTES) onTaken((reported = taken));
    };
    return new ReadableStream({ pull, cancel: () => void parts.destroy() }, { highWaterMark: 0 });
  }

  return {
    get isComplete() {
      return isComplete;
    },
    /** `undefined` when the replica was lost before it answered. */
    head: head.promise,
    /** Resolves once nothing more will come. */
    over: over.promise,
    take(message: FromReplica): void {
      if (isComplete || parts.destroyed) return;
      if (message.type === "head") {
        const { status, headers, hasBody } = message;
        head.resolve({ status, headers, body: hasBody ? body() : undefined });
      } else if (message.type === "chunk") {
        parts.push(Buffer.from(message.base64, "base64"));
      } else {
        if (message.type === "broken") fail(message.reason);
        else parts.push(null);
        isComplete = true;
        over.resolve();
      }
    },
    lose(): void {
      head.resolve(undefined);
      fail("the replica of the server that held it is gone");
    },
    break: fail,
  };
}

/** Maximum number of unread bytes of an answer, in Redis and in the reader's memory. */
export const WINDOW_BYTES = 1_048_576;
/** Maximum size of a part of an answer. */
const PART_BYTES = WINDOW_BYTES / 8;
/** How many bytes a reader takes between two reports. */
const REPORT_TAKEN_BYTES = WINDOW_BYTES / 4;

/** Backpressure: holds back the sender of an answer while too much is unread. */
export type SendWindow = ReturnType<typeof createSendWindow>;

/** @param signal - Aborts once nobody reads any longer. */
export function createSendWindow(signal: AbortSignal) {
  let sent = 0;
  let taken = 0;
  let changed = Promise.withResolvers<void>();
  const isFull = (): boolean => sent - taken >= WINDOW_BYTES && !signal.aborted;

  signal.addEventListener("abort", () => changed.resolve(), { once: true });

  return {
    noteTaken(bytes: number): void {
      taken = Math.max(taken, bytes);
      const { resolve } = changed;
      changed = Promise.withResolvers();
      resolve();
    },
    /** Splits a chunk into parts, each yielded when there is room for it. Ends early once nobody reads. */
    async *parts(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < chunk.byteLength; at += PART_BYTES) {
        while (isFull()) await changed.promise;
        if (signal.aborted) return;
        const part = chunk.subarray(at, at + PART_BYTES);
        sent += part.byteLength;
        yield part;
      }
    },
  };
}
