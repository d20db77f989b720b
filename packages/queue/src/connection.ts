import { CemError } from "@cem/core";
import { evictionRisk, seal, shownLocation, storeUnavailable, unseal } from "@cem/store";
import type { SealingKey } from "@cem/store";
import { openRedis } from "@cem/store/redis";
import type { Redis } from "ioredis";

/** A connection for commands that are repeated until they are answered: messages of workers must not be lost in a disconnect. */
export function connectPatiently(url: string): Redis {
  return connect(url, null);
}

/** A connection for commands that fail at the second disconnect. */
export function connectBriefly(url: string): Redis {
  return connect(url, 1);
}

function connect(url: string, maxRetriesPerRequest: number | null): Redis {
  // Nobody could catch the library's own attempt, which fails at a further disconnect: it would end the process.
  return openRedis(url, { maxRetriesPerRequest, autoResubscribe: false });
}

/**
 * Refuses a server that may drop jobs.
 *
 * @param onDoubt - Called where the server does not say.
 * @throws CemError `STORE_UNAVAILABLE`
 */
export async function requireKept(
  client: Redis,
  url: string,
  onDoubt: (doubt: Error) => void = () => {},
): Promise<void> {
  const risk = await evictionRisk(client);
  if (risk === undefined) return;
  if (risk.isKnown) throw storeUnavailable(shownLocation(url), new Error(risk.text));
  onDoubt(new Error(risk.text));
}

/**
 * Refuses keys that open nothing of what the other machines send: a run that a worker can't read would end as failed.
 *
 * @throws CemError `STORE_SEALED`
 */
export async function requireSameKeys(client: Redis, prefix: string, codec: MessageCodec): Promise<void> {
  const name = `${prefix}:keys`;
  const mark = await client.get(name);
  if (mark !== null && mark !== UNSEALED) {
    try {
      codec.decode(name, mark);
    } catch {
      const message = `The queue's messages are sealed with keys that are not among this machine's. Where they were replaced by others for good, delete ${name} in Redis.`;
      throw new CemError("STORE_SEALED", message, { details: { value: name } });
    }
  }
  // With the newest key of the machine that came last: who has it opens what the older ones sealed, too.
  await client.set(name, codec.encode(name, ""));
}

/** The mark as a codec without keys encodes it. */
const UNSEALED = '""';

/** Encodes messages that pass through Redis. */
export interface MessageCodec {
  encode(context: string, content: unknown): string;
  /** @returns the decoded message, whose shape its writer knows. */
  decode(context: string, text: string): unknown;
}

/** A codec to JSON, sealed where there are keys. A sealed message opens in its own context only. */
export function createMessageCodec(keys: readonly SealingKey[] = []): MessageCodec {
  if (keys.length === 0) {
    return {
      encode: (_, content) => JSON.stringify(content),
      decode: (_, text) => JSON.parse(text) as unknown,
    };
  }
  return {
    encode: (context, content) =>
      seal(keys, Buffer.from(context), Buffer.from(JSON.stringify(content))).toString("base64"),
    decode: (context, text) =>
      JSON.parse(
        unseal(keys, Buffer.from(context), Buffer.from(text, "base64"), context).toString(),
      ) as unknown,
  };
}

/** Braces keep all names of a queue in one slot of a cluster. */
export const DEFAULT_PREFIX = "{cem}";
export const QUEUE = "runs";

/** How long the messages of a run are kept after its end, for a host that asks again with the same key. */
export const KEEP_RESULTS_MS = 3_600_000;
/** How long the last message is kept about a run of an owner who was deleted. */
export const KEEP_GONE_MS = 120_000;
/** How long they are kept while the run goes on and sends nothing. */
export const KEEP_RUN_MS = 86_400_000;

/** The names in Redis that belong to one run. */
export type RunNames = ReturnType<typeof namesOf>;

export function namesOf(prefix: string, run: string) {
  const base = `${prefix}:run:${run}`;
  return { run: base, messages: `${base}:messages`, replies: `${base}:replies` };
}

/** Attributes of a span about a run in the queue. */
export function messaging(operation: "send" | "process"): Record<string, string> {
  return {
    "messaging.system": "redis",
    "messaging.destination.name": QUEUE,
    "messaging.operation.name": operation,
    "messaging.operation.type": operation,
  };
}
