import { randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import type { MessageCodec } from "./connection.ts";
import { KEEP_RUN_MS } from "./connection.ts";
import { KEPT_SECONDS, MINUTE_SECONDS } from "./turns.ts";

const FIELD = "payload";
const WRITER_BYTES = 9;
const PAGE = 500;
/** A notice can be lost in a cut: the stream is looked at so often without one. */
const LOOK_MS = 5_000;

/** The notice of a larger entry comes without it: it is read from the stream. */
const MAX_NOTICE_BYTES = 65_536;

/**
 * Adds an entry and gives notice, with the entry and the id of the one before, so that who has that one need not read.
 * KEYS: the stream, a run's attempt, the prefix of counts by the minute. ARGV: how long the stream is kept, the payload, its
 * writer, the attempt that has to be the newest. Without the last, the notice goes to the inbox of the attempt's worker.
 */
const TELL = `
  local channel = KEYS[1]
  if KEYS[2] then
    local attempt = redis.call("GET", KEYS[2]) or ""
    if ARGV[4] == "" then channel = string.match(attempt, " (.*)")
    elseif attempt ~= ARGV[4] then return false end
  end
  local last = redis.call("XREVRANGE", KEYS[1], "+", "-", "COUNT", 1)[1]
  local id = redis.call("XADD", KEYS[1], "*", "${FIELD}", ARGV[2], "by", ARGV[3])
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  local payload = #ARGV[2] > ${MAX_NOTICE_BYTES} and "" or ARGV[2]
  local notice = {KEYS[1], id, last and last[1] or "", ARGV[3], payload}
  if channel then redis.call("PUBLISH", channel, table.concat(notice, "\\n")) end
  if KEYS[3] then
    local minute = KEYS[3] .. math.floor(redis.call("TIME")[1] / ${MINUTE_SECONDS})
    redis.call("INCR", minute)
    redis.call("EXPIRE", minute, ${KEPT_SECONDS})
  end
  return id
`;

/** An entry for {@link Streams.append}. */
export interface AppendRequest {
  /** What it consists of. */
  contents: readonly unknown[];
  /** How long the stream is kept from now on. @defaultValue a day */
  keepMs?: number | undefined;
  /** A run's attempt, by the name that it is kept under: the entry is appended only while it is the newest. */
  while?: { name: string; attempt: string } | undefined;
  /** The name of a run's attempt whose worker gets the notice, in the channel of its inbox. */
  toWorkerOf?: string | undefined;
  /** Counts the entry by the minute, in names that begin so. */
  countedIn?: string | undefined;
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
  /** Streams whose notices come in a channel of their own. */
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

  /** @returns whether it was appended: another attempt may have begun. */
  async append(name: string, request: AppendRequest): Promise<boolean> {
    const { contents, keepMs = KEEP_RUN_MS, while: condition, toWorkerOf, countedIn } = request;
    const attempt = condition?.name ?? toWorkerOf;
    const keys = [name, attempt, countedIn].filter((key) => key !== undefined);
    const entry = await this.#client.eval(
      TELL,
      keys.length,
      ...keys,
      keepMs,
      this.#codec.encode(name, contents),
      `${this.#writer}.${(this.#appended += 1)}`,
      condition?.attempt ?? "",
    );
    return entry !== null;
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
   * @param onProblem - Called for entries that can't be read; the next look tries again.
   * @param isNew - Whether nothing is in the stream yet, so that there is no need to read it.
   */
  async follow(name: string, receive: Receive, onProblem: OnProblem, isNew = false): Promise<() => void> {
    const { look, stop } = this.listen(name, receive, onProblem);
    this.#subscribed.add(name);
    const leave = (): void => {
      stop();
      if (this.#followers.has(name)) return;
      this.#subscribed.delete(name);
      this.#subscriber.unsubscribe(name).catch(() => {});
    };
    try {
      await this.#subscriber.subscribe(name);
    } catch (error) {
      leave();
      throw error;
    }
    if (!isNew) look();
    return leave;
  }

  /** Follows a stream whose notices come in the channel of another one that is followed. */
  listen(name: string, receive: Receive, onProblem: OnProblem): { look: () => void; stop: () => void } {
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

interface Entry {
  id: string;
  /** Its writer, and its number among the entries of that writer. */
  by: string;
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
  readonly #onProblem: OnProblem;
  readonly #seen = new SeenEntries();
  readonly #timer: NodeJS.Timeout;
  #after = "-";
  #isLooking = false;
  #lookAgain = false;
  #isStopped = false;

  constructor(next: Next, receive: Receive, onProblem: OnProblem) {
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
      this.#onProblem(error);
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
      if (!this.#isStopped) this.#onProblem(error);
    } finally {
      this.#isLooking = false;
    }
  }
}
