import { randomUUID } from "node:crypto";
import { CemError } from "@cem/core";
import type { ListOptions, Store, StoreKey, StoredValue, WriteOptions } from "@cem/core";
import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, shownLocation, storeConflict } from "../keys.ts";
import { evictionRisk, storeUnavailable } from "../unavailable.ts";
import { CONFLICT, LIST, REMOVE, REMOVE_ALL, WRITE } from "./scripts.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 15_000;
const MS_PER_SECOND = 1_000;
/** Braces make a cluster keep all of a store in one slot, as its scripts need. */
const DEFAULT_PREFIX = "{cem}:";

/** Settings of {@link createRedisStore}. */
export interface RedisStoreSettings {
  /** `redis://` or, encrypted, `rediss://` with user, password, host, port and the number of the database. */
  url: string;
  /**
   * Prefix of all keys.
   *
   * @defaultValue `{cem}:`
   */
  prefix?: string | undefined;
}

/** A store in Redis 7 or Valkey. Connects with the first use, and again after a cut. */
export function createRedisStore(settings: RedisStoreSettings): Store {
  return new RedisStore(settings);
}

class RedisStore implements Store {
  readonly specificationVersion = "v1";
  readonly location: string;
  readonly #url: string;
  readonly #prefix: string;
  #client: Redis | undefined;
  /** The last reason why there was no connection. */
  #problem: Error | undefined;

  constructor({ url, prefix = DEFAULT_PREFIX }: RedisStoreSettings) {
    this.#url = url;
    this.#prefix = prefix;
    this.location = shownLocation(url);
  }

  async read(key: StoreKey): Promise<StoredValue | undefined> {
    const name = this.#name(encodeKey(key));
    const [value, version] = await this.#ask((client) => client.hmgetBuffer(name, "value", "version"));
    return value && version ? { value, version: version.toString() } : undefined;
  }

  async write(
    key: StoreKey,
    value: Uint8Array,
    { version, expiresInMs = Infinity }: WriteOptions = {},
  ): Promise<string> {
    checkSize(key, value);
    const next = randomUUID();
    await this.#script(WRITE, key, [expected(version), Buffer.from(value), next, wholeMs(expiresInMs)]);
    return next;
  }

  async remove(key: StoreKey, version?: string): Promise<boolean> {
    return (await this.#script(REMOVE, key, [expected(version)])) === 1;
  }

  async list(prefix: StoreKey, { after, limit }: ListOptions = {}): Promise<StoreKey[]> {
    const { from, to } = rangeOf(prefix, after);
    const wanted = pageSize(limit);
    const found = await this.#ask((client) =>
      client.callBuffer(
        "EVAL",
        LIST,
        1,
        this.#listName,
        bound("[", from),
        bound("(", to),
        wanted,
        this.#name(),
      ),
    );
    return (found as Buffer[]).map((member) => decodeKey(member));
  }

  async now(): Promise<number> {
    const [seconds, microseconds] = await this.#ask((client) => client.time());
    return Number(seconds) * MS_PER_SECOND + Math.floor(Number(microseconds) / MS_PER_SECOND);
  }

  async removeAll(prefix: StoreKey): Promise<void> {
    encodeKey(prefix);
    const { from, to } = rangeOf(prefix);
    const removePage = () =>
      this.#ask((client) =>
        client.eval(REMOVE_ALL, 1, this.#listName, bound("[", from), bound("(", to), this.#name()),
      );
    while (Number(await removePage()) > 0);
  }

  async risks(): Promise<string[]> {
    const risk = await this.#ask((client) => evictionRisk(client));
    return risk === undefined ? [] : [risk.text];
  }

  async close(): Promise<void> {
    this.#client?.disconnect();
    this.#client = undefined;
  }

  async #script(script: string, key: StoreKey, args: (string | number | Buffer)[]): Promise<number> {
    const member = encodeKey(key);
    try {
      return Number(
        await this.#ask((client) =>
          client.eval(script, 2, this.#name(member), this.#listName, member, ...args),
        ),
      );
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof Error && cause.message.includes(CONFLICT)) throw storeConflict(key);
      throw error;
    }
  }

  async #ask<Answer>(question: (client: Redis) => Promise<Answer>): Promise<Answer> {
    try {
      return await question((this.#client ??= this.#connect()));
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      // That it was tried again says nothing of why.
      const isGivenUp = (error as Error).name === "MaxRetriesPerRequestError";
      throw storeUnavailable(this.location, isGivenUp ? (this.#problem ?? error) : error);
    }
  }

  #connect(): Redis {
    // A question is asked once more after a cut, then its asker decides.
    const options = { commandTimeout: COMMAND_TIMEOUT_MS, maxRetriesPerRequest: 1 };
    return openRedis(this.#url, options, (problem) => (this.#problem = problem));
  }

  #name(member: Buffer = Buffer.alloc(0)): Buffer {
    return Buffer.concat([Buffer.from(`${this.#prefix}values:`), member]);
  }

  get #listName(): string {
    return `${this.#prefix}list:values`;
  }
}

/** Opens a connection to Redis, and again after a cut. */
export function openRedis(
  url: string,
  options: Pick<RedisOptions, "autoResubscribe" | "commandTimeout" | "maxRetriesPerRequest">,
  onProblem: (problem: Error) => void = () => {},
): Redis {
  const client = new Redis(url, { connectTimeout: CONNECT_TIMEOUT_MS, ...options });
  // Commands that fail report why; without a listener the library prints it too.
  client.on("error", (problem: Error) => {
    // A refused TLS connection may fail twice, and the library listens once; an error without a listener would end the process.
    client.stream?.on("error", () => {});
    onProblem(problem);
  });
  return client;
}

function expected(version: string | undefined): string {
  return version === undefined ? "*" : `=${version}`;
}

function bound(mark: "[" | "(", key: Buffer): Buffer {
  return Buffer.concat([Buffer.from(mark), key]);
}

/** Expiry as the scripts take it: whole milliseconds, at least 1; 0 for values that do not expire. */
function wholeMs(expiresInMs: number): number {
  return expiresInMs === Infinity ? 0 : Math.max(1, Math.round(expiresInMs));
}
