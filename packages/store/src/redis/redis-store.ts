import { randomUUID } from "node:crypto";
import { CemError, MS_PER_SECOND } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { Redis } from "ioredis";
import type { RedisOptions } from "ioredis";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, shownLocation, storeConflict } from "../keys.ts";
import { evictionRisk, storeUnavailable } from "../unavailable.ts";
import { CONFLICT, LIST, REMOVE, REMOVE_ALL, SWEEP, WRITE } from "./scripts.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const COMMAND_TIMEOUT_MS = 15_000;
const SWEEP_PERIOD_MS = 600_000;
/** Number of keys that one sweep looks at, so that nobody waits long for it. After a full one, the next follows soon. */
const SWEPT_KEYS = 1_000;
const NEXT_SWEEP_MS = 1_000;
/** The braces make a cluster keep the whole store in one slot, as its scripts need. */
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

/** Creates a store in Redis 7 or Valkey. Connects on first use, and reconnects when the connection is lost. */
export function createRedisStore({ url, prefix = DEFAULT_PREFIX }: RedisStoreSettings): Store {
  const location = shownLocation(url);
  const listName = `${prefix}list:values`;
  let opened: Redis | undefined;
  /** The most recent reason why there was no connection. */
  let problem: Error | undefined;
  let sweepAt = -Infinity;
  /** Where the next sweep begins, as ZRANGEBYLEX takes it. */
  let sweepFrom: Buffer = Buffer.from("-");

  const nameOf = (member: Buffer = Buffer.alloc(0)): Buffer =>
    Buffer.concat([Buffer.from(`${prefix}values:`), member]);

  const ask = async <Answer>(question: (client: Redis) => Promise<Answer>): Promise<Answer> => {
    // A command is retried once after a lost connection; then the caller decides.
    const options = { commandTimeout: COMMAND_TIMEOUT_MS, maxRetriesPerRequest: 1 };
    try {
      return await question((opened ??= openRedis(url, options, (lost) => (problem = lost))));
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      throw storeUnavailable(location, error, problem);
    }
  };

  const run = async (script: string, key: StoreKey, args: (string | number | Buffer)[]): Promise<number> => {
    const member = encodeKey(key);
    try {
      return Number(await ask((client) => client.eval(script, 2, nameOf(member), listName, member, ...args)));
    } catch (error) {
      const { cause } = error as Error;
      if (cause instanceof Error && cause.message.includes(CONFLICT)) throw storeConflict(key);
      throw error;
    }
  };

  /** Removes expired keys from the list from time to time, a page after the other: Redis removes their values only. */
  const sweep = async (): Promise<void> => {
    if (performance.now() < sweepAt) return;
    sweepAt = performance.now() + SWEEP_PERIOD_MS;
    const last = await ask((client) =>
      client.callBuffer("EVAL", SWEEP, 1, listName, sweepFrom, SWEPT_KEYS, nameOf()),
    );
    sweepFrom = Buffer.isBuffer(last) ? bound("(", last) : Buffer.from("-");
    if (Buffer.isBuffer(last)) sweepAt = performance.now() + NEXT_SWEEP_MS;
  };

  return {
    specificationVersion: "v1",
    location,
    async read(key) {
      const name = nameOf(encodeKey(key));
      const [value, version] = await ask((client) => client.hmgetBuffer(name, "value", "version"));
      return value && version ? { value, version: version.toString() } : undefined;
    },
    async write(key, value, { version, expiresInMs = Infinity } = {}) {
      checkSize(key, value);
      // Leftover values harm nobody: a write neither waits for the sweep nor fails with it.
      sweep().catch(() => {});
      const next = randomUUID();
      await run(WRITE, key, [expected(version), Buffer.from(value), next, wholeMs(expiresInMs)]);
      return next;
    },
    remove: async (key, version) => (await run(REMOVE, key, [expected(version)])) === 1,
    async list(prefix, { after, limit } = {}) {
      const { from, to } = rangeOf(prefix, after);
      const args = [bound("[", from), bound("(", to), pageSize(limit), nameOf()];
      const found = await ask((client) => client.callBuffer("EVAL", LIST, 1, listName, ...args));
      return (found as Buffer[]).map((member) => decodeKey(member));
    },
    async now() {
      const [seconds, microseconds] = await ask((client) => client.time());
      return Number(seconds) * MS_PER_SECOND + Math.floor(Number(microseconds) / MS_PER_SECOND);
    },
    async removeAll(prefix) {
      encodeKey(prefix);
      const { from, to } = rangeOf(prefix);
      const removePage = () =>
        ask((client) => client.eval(REMOVE_ALL, 1, listName, bound("[", from), bound("(", to), nameOf()));
      while (Number(await removePage()) > 0);
    },
    async risks() {
      const risk = await ask((client) => evictionRisk(client));
      return risk === undefined ? [] : [risk.text];
    },
    async close() {
      opened?.disconnect();
    },
  };
}

/**
 * Opens a connection to Redis, which reconnects when it is lost.
 *
 * @throws CemError `STORE_UNAVAILABLE` when the URL does not name the database by its number.
 */
export function openRedis(
  url: string,
  options: Pick<RedisOptions, "autoResubscribe" | "commandTimeout" | "maxRetriesPerRequest">,
  onProblem: (problem: Error) => void = () => {},
): Redis {
  const database = new URL(url).pathname.slice(1);
  if (!/^\d*\/?$/.test(database))
    throw storeUnavailable(shownLocation(url), new Error(`database "${database}" does not exist`));
  const client = new Redis(url, { connectTimeout: CONNECT_TIMEOUT_MS, ...options });
  // Failed commands report the reason; without a listener, the library prints it too.
  client.on("error", (problem: Error) => {
    // A refused TLS connection may fail twice, but the library listens once; an unhandled error would end the process.
    client.stream?.on("error", () => {});
    onProblem(problem);
    // When the database is refused, the library would continue in the first one, which holds others' values.
    if ((problem as { command?: { name: string } }).command?.name === "select") client.disconnect(true);
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
