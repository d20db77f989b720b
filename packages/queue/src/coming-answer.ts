import type { ForwardedAnswer } from "@cem/core";
import { TELL_TAKEN_BYTES } from "./send-window.ts";

/** What a copy of a server tells of its answer, in order. */
export type FromCopy =
  | { type: "head"; status: number; headers: [string, string][]; hasBody: boolean }
  | { type: "chunk"; base64: string }
  | { type: "end" }
  | { type: "broken"; reason: string };

/** An answer whose parts come one after the other. */
export class ComingAnswer {
  readonly #onTaken: (bytes: number) => void;
  readonly #head = Promise.withResolvers<ForwardedAnswer | undefined>();
  readonly #over = Promise.withResolvers<void>();
  readonly #body: ReadableStream<Uint8Array>;
  /** What came and was not read yet. */
  readonly #parts: Uint8Array[] = [];
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** Tells the reader, who waits for it, that a part came or that there are no more. */
  #onChange: (() => void) | undefined;
  /** Whether the copy that answers has ended. */
  isComplete = false;
  #isOver = false;
  #taken = 0;
  #told = 0;

  /** @param onTaken - Is told now and then how many bytes were read in all. */
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

  /** `undefined` where the copy was lost before it answered. */
  get head(): Promise<ForwardedAnswer | undefined> {
    return this.#head.promise;
  }

  /** Resolves once nothing more is to come. */
  get over(): Promise<void> {
    return this.#over.promise;
  }

  take(message: FromCopy): void {
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
    this.break("the copy of the server that held it is gone");
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
      if (!this.#isOver && this.#taken - this.#told >= TELL_TAKEN_BYTES)
        this.#onTaken((this.#told = this.#taken));
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
