import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { toErrorInfo, type ForwardedRequest, type Replicas } from "@cem/core";
import { shownLocation, storeUnavailable } from "@cem/store";
import { createSendWindow, streamAnswer, type FromReplica, type SendWindow } from "./streamed-answer.ts";
import { DEFAULT_PREFIX, type MessageCodec } from "./connection.ts";
import { createPeers } from "./peers.ts";
import type { QueueConnection } from "./run-queue.ts";
import { connect } from "./streams.ts";

const NAME_BYTES = 6;
const KEY_BYTES = 32;
/** How long an unread part of an answer is kept: a replica that was disconnected reads it afterwards. */
const KEEP_MS = 120_000;
/** Pause before something is sent again that the server did not take. */
const SEND_AGAIN_MS = 250;

type ToReplica =
  | { type: "request"; id: string; request: ForwardedRequest; from: string }
  /** The total number of bytes of the answer that were read. */
  | { type: "taken"; id: string; bytes: number }
  | { type: "gone"; id: string };

type Handle = Parameters<Replicas["receive"]>[0];

/** Replicas of a server that forward requests to each other through Redis or Valkey. */
export interface QueuedReplicas extends Replicas {
  close(): Promise<void>;
}

/** Joins the replicas of a server. Connects on first use. */
export function createReplicas(settings: QueueConnection): QueuedReplicas {
  const { url, prefix = DEFAULT_PREFIX } = settings;
  const name = randomBytes(NAME_BYTES).toString("hex");
  const base = `${prefix}:replica`;
  /** Answers that are being sent to other replicas. */
  const active = new Map<string, { leaving: AbortController; window: SendWindow }>();
  const closing = new AbortController();

  const join = () => {
    const connection = connect(settings);
    const { client, streams } = connection;
    return { ...connection, peers: createPeers<ToReplica>(client, streams, base, name) };
  };
  let connected: ReturnType<typeof join> | undefined;
  const open = () => (connected ??= join());

  const outboxOf = (id: string): string => `${base}:answer:${id}`;

  const answer = async ({ id, request, from }: ToReplica & { type: "request" }, handle: Handle) => {
    const { streams, peers } = open();
    const leaving = new AbortController();
    const { signal } = leaving;
    const window = createSendWindow(signal);
    active.set(id, { leaving, window });
    // Without a reader, the answer would be held back forever.
    const stopWatching = peers.watch(from, () => leaving.abort());
    const outbox = outboxOf(id);
    const append = (content: FromReplica): Promise<void> => {
      // The same entry each time: its reader skips one that arrives twice.
      const entry = streams.entryOf(outbox, [content]);
      return persist(() => streams.append(outbox, entry, KEEP_MS), signal);
    };
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
      active.delete(id);
    }
  };

  return {
    specificationVersion: "v1",
    name,
    async receive(handle) {
      await open().peers.join((message) => {
        if (message.type === "gone") active.get(message.id)?.leaving.abort();
        else if (message.type === "taken") active.get(message.id)?.window.noteTaken(message.bytes);
        else void answer(message, handle).catch(() => {});
      });
    },
    async send(replica, request, signal) {
      const { streams, client, peers } = open();
      try {
        if (!(await peers.lives(replica))) return undefined;
        const id = randomUUID();
        // May arrive twice, and after a later one.
        const notify = (message: ToReplica): void =>
          void persist(() => peers.send(replica, message), closing.signal).catch(() => {});
        const given = streamAnswer((bytes) => notify({ type: "taken", id, bytes }));
        const outbox = outboxOf(id);
        const stop = await streams.follow(outbox, (content, entry) => {
          client.xdel(outbox, entry).catch(() => {});
          given.take(content as FromReplica);
        });
        const leave = (): void => given.break("the client is gone");
        const stopWatching = peers.watch(replica, () => given.lose());
        signal.addEventListener("abort", leave, { once: true });
        void given.over.finally(() => {
          if (!given.isComplete) notify({ type: "gone", id });
          stop();
          stopWatching();
          signal.removeEventListener("abort", leave);
          client.del(outbox).catch(() => {});
        });
        try {
          await peers.send(replica, { type: "request", id, request, from: name });
          if (signal.aborted) leave();
          return await given.head;
        } catch (error) {
          given.break(toErrorInfo(error).message);
          throw error;
        }
      } catch (error) {
        throw storeUnavailable(shownLocation(url), error);
      }
    },
    async sharedKey() {
      const { client, codec } = open();
      const place = `${base}:key`;
      const fresh = randomBytes(KEY_BYTES).toString("base64");
      try {
        await client.set(place, codec.encode(place, fresh), "NX");
        const shared = opened(codec, place, await client.get(place));
        // A value sealed with a retired key is of no use to anybody.
        if (shared === undefined) await client.set(place, codec.encode(place, fresh));
        return Buffer.from(shared ?? fresh, "base64");
      } catch (error) {
        throw storeUnavailable(shownLocation(url), error);
      }
    },
    async close() {
      closing.abort();
      for (const { leaving } of active.values()) leaving.abort();
      await connected?.peers.leave();
      connected?.disconnect();
    },
  };
}

/** Sends until it is taken, since both replicas may outlive a lost connection, or until nobody needs it any longer. */
async function persist(send: () => Promise<void>, over: AbortSignal): Promise<void> {
  const until = performance.now() + KEEP_MS;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (over.aborted || performance.now() > until) throw error;
      await sleep(SEND_AGAIN_MS, undefined, { ref: false });
    }
  }
}

function opened(codec: MessageCodec, name: string, sealed: string | null): string | undefined {
  try {
    return sealed === null ? undefined : String(codec.decode(name, sealed));
  } catch {
    return undefined;
  }
}
