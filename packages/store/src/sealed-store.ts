import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { CemError, keysIn } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { checkSize, encodeKey } from "./keys.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 1;
const KEY_ID = /^[\w-]{1,32}$/;

/** A key of 256 bits, and its name, which sealed values contain. */
export interface SealingKey {
  id: string;
  key: Uint8Array;
}

/**
 * Parses keys from an environment variable: `new:<base64>,old:<base64>`, each of 32 bytes. The first seals; all of them
 * open.
 *
 * @throws TypeError for an invalid key. Its message contains no part of a key.
 */
export function parseSealingKeys(text: string): SealingKey[] {
  const keys = text.split(",").map((one, at) => {
    const [id = "", encoded = ""] = one.trim().split(":", 2);
    const key = Buffer.from(encoded, "base64");
    if (!KEY_ID.test(id) || key.length !== KEY_BYTES)
      throw new TypeError(
        `Key ${at + 1} is not of the form name:base64 with ${KEY_BYTES} bytes (openssl rand -base64 ${KEY_BYTES}).`,
      );
    return { id, key };
  });
  if (new Set(keys.map(({ id }) => id)).size < keys.length) throw new TypeError("Two keys have one name.");
  return keys;
}

/**
 * Seals bytes with AES-256-GCM under the first key.
 *
 * @param context - Identity of the bytes, authenticated with them, so that one text can't be swapped for another.
 */
export function seal([newest]: readonly SealingKey[], context: Uint8Array, clear: Uint8Array): Buffer {
  if (newest === undefined) throw new TypeError("There is no key to seal with.");
  const { id, key } = newest;
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(context);
  const body = Buffer.concat([cipher.update(clear), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT, id.length), Buffer.from(id), nonce, cipher.getAuthTag(), body]);
}

/**
 * Opens what {@link seal} sealed.
 *
 * @param shown - Its name in error messages.
 * @throws CemError `STORE_SEALED`.
 */
export function unseal(
  keys: readonly SealingKey[],
  context: Uint8Array,
  sealed: Uint8Array,
  shown: string,
): Buffer {
  const id = keyIdOf(sealed);
  if (id === undefined) throw unopened(shown, "it is not sealed");
  const found = keys.find((one) => one.id === id);
  if (found === undefined) throw unopened(shown, `its key is ${id}`);
  let at = 2 + id.length;
  const take = (bytes: number): Uint8Array => sealed.subarray(at, (at += bytes));
  const options = { authTagLength: TAG_BYTES };
  const decipher = createDecipheriv("aes-256-gcm", found.key, take(NONCE_BYTES), options).setAAD(context);
  try {
    decipher.setAuthTag(take(TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(at)), decipher.final()]);
  } catch {
    throw unopened(shown, "it was changed, or its key is another one of that name");
  }
}

function keyIdOf(sealed: Uint8Array): string | undefined {
  const [format, length = 0] = sealed;
  if (format !== FORMAT || sealed.length < 2 + length + NONCE_BYTES + TAG_BYTES) return undefined;
  const id = Buffer.from(sealed.subarray(2, 2 + length)).toString("latin1");
  return KEY_ID.test(id) ? id : undefined;
}

function unopened(shown: string, why: string): CemError {
  return new CemError("STORE_SEALED", `${shown} can't be opened: ${why}.`, { details: { value: shown } });
}

/** Number of values to try when there are no older keys to count. */
const MAX_TRIED = 1_000;

/**
 * Tries keys against the values of a store, except the one under `passedOver`.
 *
 * @returns The number of values sealed with each key but the newest, by key name.
 * @throws CemError `STORE_SEALED` for the first value that no key opens.
 */
export async function countOlderKeys(
  store: Store,
  keys: readonly SealingKey[],
  passedOver: StoreKey = [],
): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let tried = 0;
  for await (const key of keysIn(store, [])) {
    if (keys.length < 2 && (tried += 1) > MAX_TRIED) break;
    const value = (await store.read(key))?.value;
    const id = value && keyIdOf(value);
    const isClear = keys.length === 0 && id === undefined;
    if (value === undefined || isClear || key.join("/") === passedOver.join("/")) continue;
    unseal(keys, contextOf(key), value, key.join("/"));
    if (id !== undefined && id !== keys[0]?.id) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

/**
 * Seals values with AES-256-GCM before they reach a store. A sealed value opens only under its own store key, so that
 * someone who can write to the store can't swap values. Keys and sizes stay readable.
 *
 * To rotate keys without downtime: give every host the new key second, then first, and keep the old one while values
 * sealed with it exist.
 */
export function sealStore(store: Store, keys: readonly SealingKey[]): Store {
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (key) => {
      const found = await store.read(key);
      return found && { ...found, value: unseal(keys, contextOf(key), found.value, key.join("/")) };
    },
    write: async (key, value, options) => {
      checkSize(key, value);
      return store.write(key, seal(keys, contextOf(key), value), options);
    },
    remove: (key, version) => store.remove(key, version),
    list: (prefix, options) => store.list(prefix, options),
    now: () => store.now(),
    removeAll: (prefix) => store.removeAll(prefix),
    close: () => store.close(),
  };
}

function contextOf(key: StoreKey): Buffer {
  return Buffer.concat([Buffer.from("value:"), encodeKey(key)]);
}
