import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageCodec } from "./connection.ts";
import { KEEP_RUN_MS } from "./connection.ts";

const FIELD = "payload";
const WRITER_BYTES = 9;
const PAGE = 500;
/** A notice can be lost in a cut: the stream is looked at so often without one. */
const LOOK_MS = 5_000;

/** Adds pairs of a payload and its writer to a stream and gives notice. With a number in ARGV[2] only while the attempt in KEYS[2] is that. */
const TELL = `
  if ARGV[2] ~= "" and redis.call("GET", KEYS[2]) ~= ARGV[2] then return false end
  local id
  for at = 3, #ARGV, 2 do id = redis.call("XADD", KEYS[1], "*", "${FIELD}", ARGV[at], "by", ARGV[at + 1]) end
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  redis.call("PUBLISH", KEYS[1], id)
  return id
`;

/** Entries for {@link Streams.append}, one or more. */
export interface AppendRequest {
  contents: readonly unknown[];
  /** How long the stream is kept from now on. @defaultValue a day */
  keepMs?: number | undefined;
  /** Appends them only while this attempt is the newest. */
  while?: { name: string; attempt: number } | undefined;
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

  constructor(client: Redis, subscriber: Redis, codec: MessageCodec) {
    this.#client = client;
    this.#subscriber = subscriber;
    this.#codec = codec;
    subscriber.on("message", (name: string) => lookAll(this.#followers.get(name)));
    subscriber.on("ready", () => {
      const names = [...this.#followers.keys()];
      if (names.length > 0) subscriber.subscribe(...names).catch(() => {});
      for (const followers of this.#followers.values()) lookAll(followers);
    });
  }

  /** @returns whether they were appended: another attempt may have begun. */
  async append(
    name: string,
    { contents, keepMs = KEEP_RUN_MS, while: condition }: AppendRequest,
  ): Promise<boolean> {
    const entries = contents.flatMap((content) => [
      this.#codec.encode(name, content),
      `${this.#writer}.${(this.#appended += 1)}`,
    ]);
    const entry = await this.#client.eval(
      TELL,
      2,
      name,
      condition?.name ?? name,
      keepMs,
      condition === undefined ? "" : String(condition.attempt),
      ...entries,
    );
    return entry !== null;
  }

  /** All that a stream has. */
  async read(name: string): Promise<unknown[]> {
    const contents: unknown[] = [];
    const seen = new SeenEntries();
    for (let after = "-"; ;) {
      const page = await this.#client.xrange(name, after, "+", "COUNT", PAGE);
      for (const [, [, payload = "", , by]] of page)
        if (seen.isNew(by)) contents.push(this.#codec.decode(name, payload));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return contents;
      after = `(${last[0]}`;
    }
  }

  /**
   * Reads a stream from its beginning and goes on until it is stopped.
   *
   * @param receive - Gets each content in order, with the id of its entry.
   * @param onProblem - Called for entries that can't be read; the next look tries again.
   */
  async follow(
    name: string,
    receive: (content: unknown, entry: string) => void,
    onProblem: (problem: unknown) => void,
  ): Promise<() => void> {
    const seen = new SeenEntries();
    const next = async (after: string): Promise<Entry[]> => {
      const page = await this.#client.xrange(name, after, "+", "COUNT", PAGE);
      return page.map(([id, [, payload = "", , by]]) => ({
        id,
        content: this.#codec.decode(name, payload),
        isNew: () => seen.isNew(by),
      }));
    };
    const follower = new Follower(next, receive, onProblem);
    const others = this.#followers.get(name) ?? new Set();
    this.#followers.set(name, others.add(follower));
    const stop = (): void => {
      follower.stop();
      others.delete(follower);
      if (others.size > 0) return;
      this.#followers.delete(name);
      this.#subscriber.unsubscribe(name).catch(() => {});
    };
    try {
      await this.#subscriber.subscribe(name);
    } catch (error) {
      stop();
      throw error;
    }
    follower.look();
    return stop;
  }
}

function lookAll(followers: Iterable<Follower> = []): void {
  for (const follower of followers) follower.look();
}

interface Entry {
  id: string;
  content: unknown;
  /** False for one that was sent again after a cut. */
  isNew: () => boolean;
}

type Next = (after: string) => Promise<Entry[]>;

/** Finds entries that were appended twice: after a cut the client repeats what was not acknowledged, though the server may have it. */
class SeenEntries {
  readonly #last = new Map<string, number>();

  /** @param by - Its writer, and its number among the entries of that writer. */
  isNew(by = ""): boolean {
    const [writer = "", number] = by.split(".");
    if (number === undefined) return true;
    if (Number(number) <= (this.#last.get(writer) ?? 0)) return false;
    this.#last.set(writer, Number(number));
    return true;
  }
}

/** Reads on at each notice, one look at a time. */
class Follower {
  readonly #next: Next;
  readonly #receive: (content: unknown, entry: string) => void;
  readonly #onProblem: (problem: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #after = "-";
  #isLooking = false;
  #lookAgain = false;
  #isStopped = false;

  constructor(
    next: Next,
    receive: (content: unknown, entry: string) => void,
    onProblem: (problem: unknown) => void,
  ) {
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

  stop(): void {
    this.#isStopped = true;
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    this.#isLooking = true;
    try {
      while (this.#lookAgain && !this.#isStopped) {
        this.#lookAgain = false;
        const page = await this.#next(this.#after);
        for (const { id, content, isNew } of page) {
          if (this.#isStopped) return;
          this.#after = `(${id}`;
          if (isNew()) this.#receive(content, id);
        }
        if (page.length === PAGE) this.#lookAgain = true;
      }
    } catch (error) {
      if (!this.#isStopped) this.#onProblem(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
