import { randomBytes } from "node:crypto";
import { openRedis } from "@cem/store/redis";
import type { Redis } from "ioredis";
import { createMessageCodec, type MessageCodec } from "./connection.ts";
import type { QueueConnection } from "./run-queue.ts";

const FIELD = "payload";
const WRITER_BYTES = 9;
const PAGE = 500;
/** Polling interval without notices: a notice can be lost in a disconnect. */
const LOOK_MS = 5_000;

/** A notice does not include a larger entry; receivers that need it read it. */
export const MAX_NOTICE_BYTES = 65_536;

/**
 * A Lua function that adds an entry to a stream and notifies channels (separated by spaces). The notice includes the
 * entry and the id of the previous one, so that a receiver that has the previous one need not read.
 */
export const TELL = `
  local function tell(stream, payload, by, keepMs, channels)
    local last = redis.call("XREVRANGE", stream, "+", "-", "COUNT", 1)[1]
    local id = redis.call("XADD", stream, "*", "${FIELD}", payload, "by", by)
    redis.call("PEXPIRE", stream, keepMs)
    if #payload > ${MAX_NOTICE_BYTES} then payload = "" end
    local notice = table.concat({stream, id, last and last[1] or "", by, payload}, "\\n")
    for channel in string.gmatch(channels, "%S+") do redis.call("PUBLISH", channel, notice) end
  end
`;
const APPEND = `
  ${TELL}
  tell(KEYS[1], ARGV[1], ARGV[2], ARGV[3], KEYS[1])
`;

export interface StreamEntry {
  payload: string;
  /** Its writer, and its sequence number for that writer. */
  by: string;
}

/**
 * Opens the connections of a process.
 *
 * @param isPatient - Whether commands are repeated until they are answered, since messages of workers must survive a
 *   disconnect. Otherwise they fail at the second disconnect.
 */
export function connect({ url, keys }: QueueConnection, isPatient = false) {
  // The library's own resubscription fails at another disconnect with an unhandled rejection, which would end the process.
  const options = { maxRetriesPerRequest: isPatient ? null : 1, autoResubscribe: false };
  const [client, subscriber] = [openRedis(url, options), openRedis(url, options)];
  const codec = createMessageCodec(keys);
  const disconnect = (): void => {
    client.disconnect();
    subscriber.disconnect();
  };
  return { client, subscriber, codec, streams: createStreams(client, subscriber, codec), disconnect };
}

/**
 * Streams in Redis that are read from the beginning and followed: entries appended while nobody reads, or while a host
 * is disconnected, are read later, exactly once and in order.
 */
export type Streams = ReturnType<typeof createStreams>;

export function createStreams(client: Redis, subscriber: Redis, codec: MessageCodec) {
  const writer = randomBytes(WRITER_BYTES).toString("base64url");
  let appended = 0;
  const followers = new Map<string, Set<Follower>>();
  const subscribed = new Set<string>();

  subscriber.on("message", (_: string, notice: string) => hear(notice));
  subscriber.on("ready", () => {
    if (subscribed.size > 0) subscriber.subscribe(...subscribed).catch(() => {});
    for (const own of followers.values()) for (const follower of own) follower.look();
  });

  function entryOf(name: string, contents: readonly unknown[]): StreamEntry {
    return { payload: codec.encode(name, contents), by: `${writer}.${(appended += 1)}` };
  }

  /** Subscribes to a channel, and again after disconnects. */
  async function subscribe(channel: string): Promise<void> {
    subscribed.add(channel);
    await subscriber.subscribe(channel);
  }

  /** Follows a stream by the notices in a subscribed channel. Retries an entry that can't be read. */
  function listen(
    name: string,
    receive: Receive,
    onProblem?: OnProblem,
  ): { look: () => void; stop: () => void } {
    const follower = createFollower((after) => pageOf(name, after), receive, onProblem);
    const others = followers.get(name) ?? new Set();
    followers.set(name, others.add(follower));
    const stop = (): void => {
      follower.stop();
      others.delete(follower);
      if (others.size === 0) followers.delete(name);
    };
    return { look: () => follower.look(), stop };
  }

  function hear(notice: string): void {
    const [name = "", id = "", before = "", by = "", payload = ""] = notice.split("\n");
    for (const follower of followers.get(name) ?? []) {
      if (payload === "") follower.look();
      else follower.hear(before, () => ({ id, by, contents: contentsOf(name, payload) }));
    }
  }

  async function pageOf(name: string, after: string): Promise<Entry[]> {
    const page = await client.xrange(name, after, "+", "COUNT", PAGE);
    return page.map(([id, [, payload = "", , by = ""]]) => ({
      id,
      by,
      contents: contentsOf(name, payload),
    }));
  }

  function contentsOf(name: string, payload: string): unknown[] {
    return codec.decode(name, payload) as unknown[];
  }

  return {
    entryOf,
    /**
     * @param given - Contents, or an entry that may have been appended before.
     * @param keepMs - How long the stream is kept from now on, in milliseconds.
     */
    async append(name: string, given: readonly unknown[] | StreamEntry, keepMs: number): Promise<void> {
      const { payload, by } = "by" in given ? given : entryOf(name, given);
      await client.eval(APPEND, 1, name, payload, by, keepMs);
    },
    async read(name: string): Promise<unknown[]> {
      const contents: unknown[] = [];
      const isNew = createFilter();
      for (let after = "-"; ;) {
        const page = await pageOf(name, after);
        for (const entry of page) if (isNew(entry.by)) contents.push(...entry.contents);
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return contents;
        after = `(${last.id}`;
      }
    },
    /** @param receive - Receives each content in order, with the id of its entry. */
    async follow(name: string, receive: Receive): Promise<() => void> {
      const { look, stop } = listen(name, receive);
      const leave = (): void => {
        stop();
        if (followers.has(name)) return;
        subscribed.delete(name);
        subscriber.unsubscribe(name).catch(() => {});
      };
      try {
        await subscribe(name);
      } catch (error) {
        leave();
        throw error;
      }
      look();
      return leave;
    },
    subscribe,
    listen,
  };
}

type Receive = (content: unknown, entry: string) => void;
type OnProblem = (problem: unknown) => void;

interface Entry extends Pick<StreamEntry, "by"> {
  id: string;
  contents: readonly unknown[];
}

type Next = (after: string) => Promise<Entry[]>;

/**
 * Detects entries that were appended twice: after a disconnect the client repeats unacknowledged commands that the
 * server may have executed.
 */
function createFilter(): (by: string) => boolean {
  const last = new Map<string, number>();
  return (by) => {
    const [writer = "", number] = by.split(".");
    if (number === undefined) return true;
    if (Number(number) <= (last.get(writer) ?? 0)) return false;
    last.set(writer, Number(number));
    return true;
  };
}

/** Takes entries from notices as long as none is missing before them; otherwise reads the stream, one read at a time. */
type Follower = ReturnType<typeof createFollower>;

function createFollower(next: Next, receive: Receive, onProblem?: OnProblem) {
  const isNew = createFilter();
  const timer = setInterval(() => look(), LOOK_MS).unref();
  let after = "-";
  let isLooking = false;
  let lookAgain = false;
  let isStopped = false;
  const isDue = (): boolean => lookAgain && !isStopped;

  function look(): void {
    lookAgain = true;
    if (!isLooking) void read();
  }

  function take({ id, by, contents }: Entry): void {
    after = `(${id}`;
    if (!isNew(by)) return;
    for (const content of contents) if (!isStopped) receive(content, id);
  }

  async function read(): Promise<void> {
    isLooking = true;
    try {
      while (isDue()) {
        lookAgain = false;
        const page = await next(after);
        for (const entry of page) take(entry);
        if (page.length === PAGE) lookAgain = true;
      }
    } catch (error) {
      if (!isStopped) onProblem?.(error);
    } finally {
      isLooking = false;
    }
  }

  return {
    look,
    /** @param before - The id of the previous entry; empty when there is none. */
    hear(before: string, open: () => Entry): void {
      if (isLooking || (before !== "" && `(${before}` !== after)) return look();
      try {
        take(open());
      } catch (error) {
        onProblem?.(error);
      }
    },
    stop(): void {
      isStopped = true;
      clearInterval(timer);
    },
  };
}
