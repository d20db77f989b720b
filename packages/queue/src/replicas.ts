import { randomBytes, randomUUID } from "node:crypto";
import { toErrorInfo } from "@cem/core";
import type { ForwardedAnswer, ForwardedRequest, Replicas } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import type { Redis } from "ioredis";
import { ComingAnswer } from "./coming-answer.ts";
import type { FromCopy } from "./coming-answer.ts";
import { connectBriefly } from "./connect.ts";
import { createLetters } from "./letters.ts";
import { DEFAULT_PREFIX } from "./names.ts";
import { Peers } from "./peers.ts";
import type { QueueConnection } from "./run-queue.ts";
import { SendWindow } from "./send-window.ts";
import { Streams } from "./streams.ts";

const NAME_BYTES = 6;
/** How long a part of an answer waits to be read: a copy that was cut off reads it afterwards. */
const KEEP_MS = 120_000;

type ToCopy =
  | { type: "request"; id: string; request: ForwardedRequest; from: string }
  /** How many bytes of the answer were read in all. */
  | { type: "taken"; id: string; bytes: number }
  | { type: "gone"; id: string };

/** An answer that is being given to another copy. */
interface GivenAnswer {
  leaving: AbortController;
  window: SendWindow;
}

type Handle = Parameters<Replicas["receive"]>[0];

/** Copies of a server that hand requests to each other through Redis or Valkey. */
export interface QueuedReplicas extends Replicas {
  close(): Promise<void>;
}

/** Joins the copies of a server. Connects with the first use. */
export function createReplicas(connection: QueueConnection): QueuedReplicas {
  return new RedisServerCopies(connection);
}

class RedisServerCopies implements QueuedReplicas {
  readonly specificationVersion = "v1";
  readonly name = randomBytes(NAME_BYTES).toString("hex");
  readonly #connection: QueueConnection;
  readonly #base: string;
  readonly #underWay = new Map<string, GivenAnswer>();
  #opened: Opened | undefined;

  constructor(connection: QueueConnection) {
    this.#connection = connection;
    this.#base = `${connection.prefix ?? DEFAULT_PREFIX}:copy`;
  }

  async receive(handle: Handle): Promise<void> {
    await this.#open().peers.join((message) => {
      if (message.type === "gone") this.#underWay.get(message.id)?.leaving.abort();
      else if (message.type === "taken") this.#underWay.get(message.id)?.window.noteTaken(message.bytes);
      else void this.#answer(message, handle).catch(() => {});
    });
  }

  async send(
    copy: string,
    request: ForwardedRequest,
    signal: AbortSignal,
  ): Promise<ForwardedAnswer | undefined> {
    const { streams, client, peers } = this.#open();
    try {
      if (!(await peers.lives(copy))) return undefined;
      const id = randomUUID();
      const tell = (message: ToCopy): void => void peers.send(copy, message).catch(() => {});
      const answer = new ComingAnswer((bytes) => tell({ type: "taken", id, bytes }));
      const outbox = this.#outboxOf(id);
      const stop = await streams.follow(
        outbox,
        (content, entry) => {
          client.xdel(outbox, entry).catch(() => {});
          answer.take(content as FromCopy);
        },
        () => {},
      );
      const leave = (): void => answer.break("the client is gone");
      const stopWatching = peers.watch(copy, { onLost: () => answer.lose() });
      signal.addEventListener("abort", leave, { once: true });
      void answer.over.finally(() => {
        if (!answer.isComplete) tell({ type: "gone", id });
        stop();
        stopWatching();
        signal.removeEventListener("abort", leave);
        client.del(outbox).catch(() => {});
      });
      try {
        await peers.send(copy, { type: "request", id, request, from: this.name });
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
    for (const { leaving } of this.#underWay.values()) leaving.abort();
    const opened = this.#opened;
    await opened?.peers.leave();
    opened?.client.disconnect();
    opened?.subscriber.disconnect();
  }

  async #answer({ id, request, from }: ToCopy & { type: "request" }, handle: Handle): Promise<void> {
    const { streams, peers } = this.#open();
    const leaving = new AbortController();
    const { signal } = leaving;
    const window = new SendWindow(signal);
    this.#underWay.set(id, { leaving, window });
    // What nobody reads any longer would be held back for ever.
    const stopWatching = peers.watch(from, { onLost: () => leaving.abort() });
    const tell = (content: FromCopy): Promise<boolean> =>
      streams.tell(this.#outboxOf(id), { content, keepMs: KEEP_MS });
    try {
      const { status, headers, body } = await handle(request, signal);
      await tell({ type: "head", status, headers, hasBody: body !== undefined });
      for await (const chunk of body ?? []) {
        for await (const part of window.parts(chunk))
          await tell({ type: "chunk", base64: Buffer.from(part).toString("base64") });
        if (signal.aborted) return;
      }
      await tell({ type: "end" });
    } catch (error) {
      await tell({ type: "broken", reason: toErrorInfo(error).message });
    } finally {
      stopWatching();
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
