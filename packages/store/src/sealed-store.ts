import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { CemError } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { encodeKey } from "./keys.ts";

const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FORMAT = 1;
const KEY_ID = /^[\w-]{1,32}$/;

/** A key of 256 bits and the name under which values say that they were sealed with it. */
export interface SealingKey {
  id: string;
  key: Uint8Array;
}

/**
 * Reads keys as an environment variable has them: `new:<base64>,old:<base64>`, each of 32 bytes. The first seals, all of
 * them open.
 *
 * @throws TypeError when one is none. Its message has no part of a key.
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
 * Seals values and entries with AES-256-GCM before they reach a store. What was sealed opens under its own key only, so
 * that nobody who can write to the store can put one value in another's place. Keys, counters and sizes stay readable.
 *
 * To change keys without a pause: give every host the new key second, then first, then {@link reseal}, then leave the old
 * one out.
 */
export function sealStore(store: Store, keys: readonly SealingKey[]): Store {
  const [newest] = keys;
  if (newest === undefined) throw new TypeError("A sealed store needs a key.");
  const open = (key: StoreKey, kind: Kind, sealed: Uint8Array): Uint8Array => unseal(keys, key, kind, sealed);
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (key) => {
      const found = await store.read(key);
      return found && { ...found, value: open(key, "value", found.value) };
    },
    write: async (key, value, options) => store.write(key, seal(newest, key, "value", value), options),
    remove: (key, version) => store.remove(key, version),
    list: (prefix, options) => store.list(prefix, options),
    append: async (key, entries) =>
      store.append(
        key,
        entries.map((entry) => seal(newest, key, "entry", entry)),
      ),
    entries: async (key, options) =>
      (await store.entries(key, options)).map((entry) => open(key, "entry", entry)),
    add: (key, amount, expiresInMs) => store.add(key, amount, expiresInMs),
    removeAll: (prefix) => store.removeAll(prefix),
    close: () => store.close(),
  };
}

/**
 * Seals the values that begin with these parts with the newest key. Others may write meanwhile. Entries of logs and values
 * that expire stay as they are, so their key is needed as long as they are.
 *
 * @returns how many values were sealed anew.
 */
export async function reseal(store: Store, keys: readonly SealingKey[], prefix: StoreKey): Promise<number> {
  const [newest] = keys;
  if (newest === undefined) throw new TypeError("A sealed store needs a key.");
  let count = 0;
  let after: StoreKey | undefined;
  do {
    const page = await store.list(prefix, { after });
    for (const key of page) if (await resealOne(store, keys, newest, key)) count += 1;
    after = page.at(-1);
  } while (after !== undefined);
  return count;
}

/** What somebody changed meanwhile is sealed with the newest key already. */
async function resealOne(
  store: Store,
  keys: readonly SealingKey[],
  newest: SealingKey,
  key: StoreKey,
): Promise<boolean> {
  const found = await store.read(key);
  if (found === undefined || keyIdOf(found.value) === newest.id) return false;
  const value = seal(newest, key, "value", unseal(keys, key, "value", found.value));
  try {
    await store.write(key, value, { version: found.version });
    return true;
  } catch (error) {
    if (CemError.isInstance(error) && error.code === "STORE_CONFLICT") return false;
    throw error;
  }
}

type Kind = "value" | "entry";

function seal({ id, key }: SealingKey, name: StoreKey, kind: Kind, value: Uint8Array): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(boundTo(name, kind));
  const body = Buffer.concat([cipher.update(value), cipher.final()]);
  return Buffer.concat([Buffer.of(FORMAT, id.length), Buffer.from(id), nonce, cipher.getAuthTag(), body]);
}

function unseal(keys: readonly SealingKey[], name: StoreKey, kind: Kind, sealed: Uint8Array): Buffer {
  const id = keyIdOf(sealed);
  const found = keys.find((one) => one.id === id);
  if (id === undefined || found === undefined)
    throw unopened(name, id === undefined ? "it is not sealed" : `its key is ${id}`);
  let at = 2 + id.length;
  const take = (bytes: number): Uint8Array => sealed.subarray(at, (at += bytes));
  const decipher = createDecipheriv("aes-256-gcm", found.key, take(NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(boundTo(name, kind));
  try {
    decipher.setAuthTag(take(TAG_BYTES));
    return Buffer.concat([decipher.update(sealed.subarray(at)), decipher.final()]);
  } catch {
    throw unopened(name, "it was changed, or its key is another one of that name");
  }
}

/** The name of the key that a value says it was sealed with. */
function keyIdOf(sealed: Uint8Array): string | undefined {
  const [format, length = 0] = sealed;
  if (format !== FORMAT || sealed.length < 2 + length + NONCE_BYTES + TAG_BYTES) return undefined;
  const id = Buffer.from(sealed.subarray(2, 2 + length)).toString("latin1");
  return KEY_ID.test(id) ? id : undefined;
}

function boundTo(name: StoreKey, kind: Kind): Buffer {
  return Buffer.concat([Buffer.from(`${kind}:`), encodeKey(name)]);
}

function unopened(name: StoreKey, why: string): CemError {
  return new CemError("STORE_SEALED", `${name.join("/")} can't be opened: ${why}.`, {
    details: { key: [...name] },
  });
}
