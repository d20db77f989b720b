import { CemError } from "@cem/core";
import { evictionRisk, seal, shownLocation, storeUnavailable, unseal, type SealingKey } from "@cem/store";
import type { Redis } from "ioredis";

/**
 * Refuses a server that may drop jobs.
 *
 * @param onDoubt - Called when the server does not tell.
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
 * Refuses keys that can't open messages of the other machines: a run that a worker can't read would end as failed.
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
  // Sealed with the newest key of the machine that joined last: a machine with this key can also open what older ones sealed.
  await client.set(name, codec.encode(name, ""));
}

/** The mark as a codec without keys encodes it. */
const UNSEALED = '""';

export interface MessageCodec {
  encode(context: string, content: unknown): string;
  /** @returns the decoded message, whose shape its writer knows. */
  decode(context: string, text: string): unknown;
}

/** Creates a codec to JSON, sealed when there are keys. A sealed message opens only in its own context. */
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

/** The braces keep all names of a queue in one slot of a cluster. */
export const DEFAULT_PREFIX = "{cem}";
export const QUEUE = "runs";

/** How long the messages of a run are kept after its end, for hosts that ask again with the same key. */
export const KEEP_RESULTS_MS = 3_600_000;
/** How long the last message about a run of a deleted owner is kept. */
export const KEEP_GONE_MS = 120_000;
/** How long the messages are kept while the run continues and sends nothing. */
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
