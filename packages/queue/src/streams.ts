import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageCodec } from "./connection.ts";

const FIELD = "payload";
const WRITER_BYTES = 9;
const PAGE = 500;
/** A notice can be lost in a cut: the stream is looked at so often without one. */
const LOOK_MS = 5_000;

/** The notice of a larger entry comes without it: it is read from the stream. */
const MAX_NOTICE_BYTES = 65_536;

/**
 * A function that adds an entry to a stream, and gives notice to channels (which are separated by blanks), with the entry and the id of
 * the one before, so that who has that one need not read.
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

/** An entry as it is stored. */
export interface StreamEntry {
  payload: string;
  /** Its writer, and its number among the entries of that writer. */
  by: string;
}

/**
 * Streams in Redis that are read from their beginning and followed: entries appended while nobody reads, or while a host is cut
 * off, are read later, once and in order.
 */
export class Streams {
  readonly #client: Redis;
  readonly #subscriber: Redis;
  readonly #codec: MessageCodec;
  readonly #writer = randomBytes(WRITER_BYTES).toString("base64url");
  #appended = 0;
  readonly #followers = new Map<string, Set<Follower>>();
  readonly #subscribed = new Set<string>();

  constructor(client: Redis, subscriber: Redis, codec: MessageCodec) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.#codec = codec;
    subscriber.on("message", (_: string, notice: string) => this.#hear(notice));
    subscriber.on("ready", () => {
      if (this.#subscribed.size > 0) subscriber.subscribe(...this.#subscribed).catch(() => {});
      for (const followers of this.#followers.values()) for (const follower of followers) follower.look();
    });
  }

  /** Encodes what is to be added to a stream. */
  entryOf(name: string, contents: readonly unknown[]): StreamEntry {
    return { payload: this.#codec.encode(name, contents), by: `${this.#writer}.${(this.#appended += 1)}` };
  }

  /** @param keepMs - How long the stream is kept from now on. */
  async append(name: string, contents: readonly unknown[], keepMs: number): Promise<void> {
    const { payload, by } = this.entryOf(name, contents);
    await this.#client.eval(APPEND, 1, name, payload, by, keepMs);
  }

  /** All that a stream has. */
  async read(name: string): Promise<unknown[]> {
    const contents: unknown[] = [];
    const seen = new SeenEntries();
    for (let after = "-"; ;) {
      const page = await this.#page(name, after);
      for (const entry of page) if (seen.isNew(entry.by)) contents.push(...entry.contents);
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return contents;
      after = `(${last.id}`;
    }
  }

  /**
   * Reads a stream from its beginning and goes on until it is stopped.
   *
   * @param receive - Gets each content in order, with the id of its entry.
   */
  async follow(name: string, receive: Receive): Promise<() => void> {
    const { look, stop } = this.listen(name, receive);
    const leave = (): void => {
      stop();
      if (this.#followers.has(name)) return;
      this.#subscribed.delete(name);
      this.#subscriber.unsubscribe(name).catch(() => {});
    };
    try {
      await this.subscribe(name);
    } catch (error) {
      leave();
      throw error;
    }
    look();
    return leave;
  }

  /** Receives what comes in a channel, also after cuts. */
  async subscribe(channel: string): Promise<void> {
    this.#subscribed.add(channel);
    await this.#subscriber.subscribe(channel);
  }

  /** Follows a stream whose notices come in a channel that is subscribed to. An entry that can't be read is tried again. */
  listen(name: string, receive: Receive, onProblem?: OnProblem): { look: () => void; stop: () => void } {
    const follower = new Follower((after) => this.#page(name, after), receive, onProblem);
    const others = this.#followers.get(name) ?? new Set();
    this.#followers.set(name, others.add(follower));
    const stop = (): void => {
      follower.stop();
      others.delete(follower);
      if (others.size === 0) this.#followers.delete(name);
    };
    return { look: () => follower.look(), stop };
  }

  #hear(notice: string): void {
    const [name = "", id = "", before = "", by = "", payload = ""] = notice.split("\n");
    for (const follower of this.#followers.get(name) ?? []) {
      if (payload === "") follower.look();
      else follower.hear(before, () => ({ id, by, contents: this.#contentsOf(name, payload) }));
    }
  }

  async #page(name: string, after: string): Promise<Entry[]> {
    const page = await this.#client.xrange(name, after, "+", "COUNT", PAGE);
    return page.map(([id, [, payload = "", , by = ""]]) => ({
      id,
      by,
      contents: this.#contentsOf(name, payload),
    }));
  }

  #contentsOf(name: string, payload: string): unknown[] {
    return this.#codec.decode(name, payload) as unknown[];
  }
}

type Receive = (content: unknown, entry: string) => void;
type OnProblem = (problem: unknown) => void;

interface Entry extends Pick<StreamEntry, "by"> {
  id: string;
  contents: readonly unknown[];
}

type Next = (after: string) => Promise<Entry[]>;

/** Finds entries that were appended twice: after a cut the client repeats what was not acknowledged, though the server may have it. */
class SeenEntries {
  readonly #last = new Map<string, number>();

  /** @param by - Its writer, and its number among the entries of that writer. */
  isNew(by: string): boolean {
    const [writer = "", number] = by.split(".");
    if (number === undefined) return true;
    if (Number(number) <= (this.#last.get(writer) ?? 0)) return false;
    this.#last.set(writer, Number(number));
    return true;
  }
}

/** Takes what comes with notices as long as nothing is missing before it, and reads on otherwise, one look at a time. */
class Follower {
  readonly #next: Next;
  readonly #receive: Receive;
  readonly #onProblem: OnProblem | undefined;
  readonly #seen = new SeenEntries();
  readonly #timer: NodeJS.Timeout;
  #after = "-";
  #isLooking = false;
  #lookAgain = false;
  #isStopped = false;

  constructor(next: Next, receive: Receive, onProblem?: OnProblem) {
    this.#next = next;
    this.#receive = receive;
    this.#onProblem = onProblem;
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  look(): void {
    this.#lookAgain = true;
    if (!this.#isLooking) void this.#read();
  }

  /** @param before - The id of the entry before it; empty where there is none. */
  hear(before: string, open: () => Entry): void {
    if (this.#isLooking || (before !== "" && `(${before}` !== this.#after)) return this.look();
    try {
      this.#take(open());
    } catch (error) {
      this.#onProblem?.(error);
    }
  }

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  #take({ id, by, contents }: Entry): void {
    this.#after = `(${id}`;
    if (!this.#seen.isNew(by)) return;
    for (const content of contents) if (!this.#isStopped) this.#receive(content, id);
  }

  async #read(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#lookAgain && !this.#isStopped) {
        this.#lookAgain = false;
        const page = await this.#next(this.#after);
        for (const entry of page) this.#take(entry);
        if (page.length === PAGE) this.#lookAgain = true;
      }
    } catch (error) {
      if (!this.#isStopped) this.#onProblem?.(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
