import { randomBytes, randomUUID } from "node:crypto";
import { toErrorInfo } from "@cem/core";
import type { ForwardedAnswer, ForwardedRequest, Replicas } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import type { Redis } from "ioredis";
import { SendWindow, StreamedAnswer } from "./streamed-answer.ts";
import type { FromReplica } from "./streamed-answer.ts";
import { DEFAULT_PREFIX, connectBriefly, createMessageCodec } from "./connection.ts";
import type { MessageCodec } from "./connection.ts";
import { Peers } from "./peers.ts";
import type { QueueConnection } from "./run-queue.ts";
import { Streams } from "./streams.ts";

const NAME_BYTES = 6;
const KEY_BYTES = 32;
/** How long a part of an answer waits to be read: a replica that was cut off reads it afterwards. */
const KEEP_MS = 120_000;

type ToReplica =
  | { type: "request"; id: string; request: ForwardedRequest; from: string }
  /** How many bytes of the answer were read in all. */
  | { type: "taken"; id: string; bytes: number }
  | { type: "gone"; id: string };

/** An answer that is being sent to another replica. */
interface GivenAnswer {
  leaving: AbortController;
  window: SendWindow;
}

type Handle = Parameters<Replicas["receive"]>[0];

/** Replicas of a server that forward requests to each other through Redis or Valkey. */
export interface QueuedReplicas extends Replicas {
  close(): Promise<void>;
}

/** Joins the replicas of a server. Connects with the first use. */
export function createReplicas(connection: QueueConnection): QueuedReplicas {
  return new RedisReplicas(connection);
}

class RedisReplicas implements QueuedReplicas {
  readonly specificationVersion = "v1";
  readonly name = randomBytes(NAME_BYTES).toString("hex");
  readonly #connection: QueueConnection;
  readonly #base: string;
  readonly #active = new Map<string, GivenAnswer>();
  #opened: Opened | undefined;

  constructor(connection: QueueConnection) {
    this.#connection = connection;
    this.#base = `${connection.prefix ?? DEFAULT_PREFIX}:replica`;
  }

  async receive(handle: Handle): Promise<void> {
    await this.#open().peers.join((message) => {
      if (message.type === "gone") this.#active.get(message.id)?.leaving.abort();
      else if (message.type === "taken") this.#active.get(message.id)?.window.noteTaken(message.bytes);
      else void this.#answer(message, handle).catch(() => {});
    });
  }

  async send(
    replica: string,
    request: ForwardedRequest,
    signal: AbortSignal,
  ): Promise<ForwardedAnswer | undefined> {
    const { streams, client, peers } = this.#open();
    try {
      if (!(await peers.lives(replica))) return undefined;
      const id = randomUUID();
      const notify = (message: ToReplica): void => void peers.send(replica, message).catch(() => {});
      const answer = new StreamedAnswer((bytes) => notify({ type: "taken", id, bytes }));
      const outbox = this.#outboxOf(id);
      const stop = await streams.follow(outbox, (content, entry) => {
        client.xdel(outbox, entry).catch(() => {});
        answer.take(content as FromReplica);
      });
      const leave = (): void => answer.break("the client is gone");
      const stopWatching = peers.watch(replica, () => answer.lose());
      signal.addEventListener("abort", leave, { once: true });
      void answer.over.finally(() => {
        if (!answer.isComplete) notify({ type: "gone", id });
        stop();
        stopWatching();
        signal.removeEventListener("abort", leave);
        client.del(outbox).catch(() => {});
      });
      try {
        await peers.send(replica, { type: "request", id, request, from: this.name });
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

  async sharedKey(): Promise<Uint8Array> {
    const { client, codec } = this.#open();
    const name = `${this.#base}:key`;
    const fresh = randomBytes(KEY_BYTES).toString("base64");
    try {
      await client.set(name, codec.encode(name, fresh), "NX");
      const shared = opened(codec, name, await client.get(name));
      // One that was sealed with a key that is given up is of no use to anybody.
      if (shared === undefined) await client.set(name, codec.encode(name, fresh));
      return Buffer.from(shared ?? fresh, "base64");
    } catch (error) {
      throw storeUnavailable(shownLocation(this.#connection.url), error);
    }
  }

  async close(): Promise<void> {
    for (const { leaving } of this.#active.values()) leaving.abort();
    const opened = this.#opened;
    await opened?.peers.leave();
    opened?.client.disconnect();
    opened?.subscriber.disconnect();
  }

  async #answer({ id, request, from }: ToReplica & { type: "request" }, handle: Handle): Promise<void> {
    const { streams, peers } = this.#open();
    const leaving = new AbortController();
    const { signal } = leaving;
    const window = new SendWindow(signal);
    this.#active.set(id, { leaving, window });
    // Without a reader it would be held back for ever.
    const stopWatching = peers.watch(from, () => leaving.abort());
    const append = (content: FromReplica): Promise<void> =>
      streams.append(this.#outboxOf(id), [content], KEEP_MS);
    try {
      const { status, headers, body } = await handle(request, signal);
      await append({ type: "head", status, headers, hasBody: body !== undefined });
      for await (const chunk of body ?? []) {
        for await (const part of window.parts(chunk))
          await append({ type: "chunk", base64: Buffer.from(part).toString("base64") });
        if (signal.aborted) return;
      }
      await append({ type: "end" });
    } catch (error) {
      await append({ type: "broken", reason: toErrorInfo(error).message });
    } finally {
      stopWatching();
      this.#active.delete(id);
    }
  }

  #outboxOf(id: string): string {
    return `${this.#base}:answer:${id}`;
  }

  #open(): Opened {
    if (this.#opened !== undefined) return this.#opened;
    const { url, keys } = this.#connection;
    const [client, subscriber] = [connectBriefly(url), connectBriefly(url)];
    const codec = createMessageCodec(keys);
    const streams = new Streams(client, subscriber, codec);
    const peers = new Peers<ToReplica>({ client, streams, base: this.#base, name: this.name });
    return (this.#opened = { client, subscriber, codec, streams, peers });
  }
}

function opened(codec: MessageCodec, name: string, sealed: string | null): string | undefined {
  try {
    return sealed === null ? undefined : String(codec.decode(name, sealed));
  } catch {
    return undefined;
  }
}

interface Opened {
  client: Redis;
  subscriber: Redis;
  codec: MessageCodec;
  streams: Streams;
  peers: Peers<ToReplica>;
}
