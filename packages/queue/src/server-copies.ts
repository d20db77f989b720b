import { randomBytes, randomUUID } from "node:crypto";
import { toErrorInfo } from "@cem/core";
import type { HandedAnswer, HandedRequest, ServerCopies } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import type { Redis } from "ioredis";
import { connectBriefly } from "./connect.ts";
import { createLetters } from "./letters.ts";
import { DEFAULT_PREFIX } from "./names.ts";
import { Peers } from "./peers.ts";
import type { QueueConnection } from "./run-queue.ts";
import { Streams } from "./streams.ts";

const NAME_BYTES = 6;
/** How long a part of an answer waits to be read: a copy that was cut off reads it afterwards. */
const KEEP_MS = 120_000;

type ToCopy = { type: "request"; id: string; request: HandedRequest } | { type: "gone"; id: string };

type FromCopy =
  | { type: "head"; status: number; headers: [string, string][]; hasBody: boolean }
  | { type: "chunk"; base64: string }
  | { type: "end" }
  | { type: "broken"; reason: string };

type Handle = Parameters<ServerCopies["receive"]>[0];

/** Copies of a server that hand requests to each other through Redis or Valkey. */
export interface QueuedServerCopies extends ServerCopies {
  close(): Promise<void>;
}

/** Joins the copies of a server. Connects with the first use. */
export function createServerCopies(connection: QueueConnection): QueuedServerCopies {
  return new RedisServerCopies(connection);
}

class RedisServerCopies implements QueuedServerCopies {
  readonly specificationVersion = "v1";
  readonly name = randomBytes(NAME_BYTES).toString("hex");
  readonly #connection: QueueConnection;
  readonly #base: string;
  readonly #underWay = new Map<string, AbortController>();
  #opened: Opened | undefined;

  constructor(connection: QueueConnection) {
    this.#connection = connection;
    this.#base = `${connection.prefix ?? DEFAULT_PREFIX}:copy`;
  }

  async receive(handle: Handle): Promise<void> {
    await this.#open().peers.join((message) => {
      if (message.type === "gone") this.#underWay.get(message.id)?.abort();
      else void this.#answer(message, handle).catch(() => {});
    });
  }

  async send(copy: string, request: HandedRequest, signal: AbortSignal): Promise<HandedAnswer | undefined> {
    const { streams, client, peers } = this.#open();
    try {
      if (!(await peers.lives(copy))) return undefined;
      const id = randomUUID();
      const answer = new ComingAnswer();
      const outbox = this.#outboxOf(id);
      const stop = await streams.follow(
        outbox,
        (content, entry) => {
          client.xdel(outbox, entry).catch(() => {});
          answer.take(content as FromCopy);
        },
        () => {},
      );
      const leave = (): void => {
        answer.break("the client is gone");
        peers.send(copy, { type: "gone", id }).catch(() => {});
      };
      const stopWatching = peers.watch(copy, {
        onLost: () => answer.break("the copy of the server that held it is gone"),
      });
      signal.addEventListener("abort", leave, { once: true });
      void answer.over.finally(() => {
        stop();
        stopWatching();
        signal.removeEventListener("abort", leave);
        client.del(outbox).catch(() => {});
      });
      try {
        await peers.send(copy, { type: "request", id, request });
        if (signal.aborted) leave();
        return await answer.head;
      } catch (error) {
        answer.break(toErrorInfo(error).message);
        throw error;
      }
    } catch (error) {
      throw storeUnavailable(shownLocation(this.#connection.url), error);
    }
  }

  async close(): Promise<void> {
    for (const controller of this.#underWay.values()) controller.abort();
    const opened = this.#opened;
    await opened?.peers.leave();
    opened?.client.disconnect();
    opened?.subscriber.disconnect();
  }

  async #answer({ id, request }: ToCopy & { type: "request" }, handle: Handle): Promise<void> {
    const { streams } = this.#open();
    const controller = new AbortController();
    this.#underWay.set(id, controller);
    const tell = (content: FromCopy): Promise<boolean> =>
      streams.tell(this.#outboxOf(id), { content, keepMs: KEEP_MS });
    try {
      const { status, headers, body } = await handle(request, controller.signal);
      await tell({ type: "head", status, headers, hasBody: body !== undefined });
      for await (const chunk of body ?? []) {
        if (controller.signal.aborted) return;
        await tell({ type: "chunk", base64: Buffer.from(chunk).toString("base64") });
      }
      await tell({ type: "end" });
    } catch (error) {
      await tell({ type: "broken", reason: toErrorInfo(error).message });
    } finally {
      this.#underWay.delete(id);
    }
  }

  #outboxOf(id: string): string {
    return `${this.#base}:answer:${id}`;
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const { url, keys } = this.#connection;
    const [client, subscriber] = [connectBriefly(url), connectBriefly(url)];
    const streams = new Streams(client, subscriber, createLetters(keys));
    const peers = new Peers<ToCopy>({ client, streams, base: this.#base, name: this.name });
    return (this.#opened = { client, subscriber, streams, peers });
  }
}

interface Opened {
  client: Redis;
  subscriber: Redis;
  streams: Streams;
  peers: Peers<ToCopy>;
}

/** An answer whose parts come one after the other. */
class ComingAnswer {
  readonly #head = Promise.withResolvers<HandedAnswer>();
  readonly #over = Promise.withResolvers<void>();
  readonly #body: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isOver = false;

  constructor() {
    this.#body = new ReadableStream<Uint8Array>({
      start: (controller) => void (this.#controller = controller),
      cancel: () => this.#end(),
    });
    this.#head.promise.catch(() => {});
  }

  get head(): Promise<HandedAnswer> {
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
      this.#controller?.enqueue(Buffer.from(message.base64, "base64"));
    } else if (message.type === "end") {
      this.#controller?.close();
      this.#end();
    } else this.break(message.reason);
  }

  break(reason: string): void {
    if (this.#isOver) return;
    const error = new Error(reason);
    this.#head.reject(error);
    this.#controller?.error(error);
    this.#end();
  }

  #end(): void {
    this.#isOver = true;
    this.#over.resolve();
  }
}
