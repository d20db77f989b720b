import { CemError } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { encodeKey } from "./keys.ts";
import { keyIdOf, seal, unseal } from "./sealing.ts";
import type { SealingKey } from "./sealing.ts";

type Kind = "value" | "entry";

/**
 * Seals values and entries with AES-256-GCM before they reach a store. What was sealed opens under its own key only, so
 * that nobody who can write to the store can put one value in another's place. Keys, counters and sizes stay readable.
 *
 * To change keys without a pause: give every host the new key second, then first, then {@link reseal}, then leave the old
 * one out.
 */
export function sealStore(store: Store, keys: readonly SealingKey[]): Store {
  const close = (key: StoreKey, kind: Kind, clear: Uint8Array): Uint8Array =>
    seal(keys, contextOf(key, kind), clear);
  const open = (key: StoreKey, kind: Kind, sealed: Uint8Array): Uint8Array =>
    unseal(keys, contextOf(key, kind), sealed, key.join("/"));
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (key) => {
      const found = await store.read(key);
      return found && { ...found, value: open(key, "value", found.value) };
    },
    write: async (key, value, options) => store.write(key, close(key, "value", value), options),
    remove: (key, version) => store.remove(key, version),
    list: (prefix, options) => store.list(prefix, options),
    append: async (key, entries) =>
      store.append(
        key,
        entries.map((entry) => close(key, "entry", entry)),
      ),
    entries: async (key, options) =>
      (await store.entries(key, options)).map((entry) => open(key, "entry", entry)),
    add: (key, amount, expiresInMs) => store.add(key, amount, expiresInMs),
    now: () => store.now(),
    removeAll: (prefix) => store.removeAll(prefix),
    close: () => store.close(),
  };
}

/**
 * Seals the values that begin with these parts with the newest key. Others may write meanwhile. Entries of logs stay
 * as they are, so their key is needed as long as they are.
 *
 * @returns how many values were sealed anew.
 */
export async function reseal(store: Store, keys: readonly SealingKey[], prefix: StoreKey): Promise<number> {
  let count = 0;
  let after: StoreKey | undefined;
  do {
    const page = await store.list(prefix, { after });
    for (const key of page) if (await resealOne(store, keys, key)) count += 1;
    after = page.at(-1);
  } while (after !== undefined);
  return count;
}

/** What somebody changed meanwhile is sealed with the newest key already. */
async function resealOne(store: Store, keys: readonly SealingKey[], key: StoreKey): Promise<boolean> {
  const found = await store.read(key);
  if (found === undefined || keyIdOf(found.value) === keys[0]?.id) return false;
  const context = contextOf(key, "value");
  const value = seal(keys, context, unseal(keys, context, found.value, key.join("/")));
  try {
    await store.write(key, value, { version: found.version, expiresInMs: "kept" });
    return true;
  } catch (error) {
    if (CemError.isInstance(error) && error.code === "STORE_CONFLICT") return false;
    throw error;
  }
}

function contextOf(key: StoreKey, kind: Kind): Buffer {
  return Buffer.concat([Buffer.from(`${kind}:`), encodeKey(key)]);
}
