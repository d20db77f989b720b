import { CemError } from "@cem/core";
import type { ListOptions, Store, StoreKey } from "@cem/core";
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
    listLogs: (prefix, options) => store.listLogs(prefix, options),
    rewriteEntry: async (key, number, entry) => store.rewriteEntry(key, number, close(key, "entry", entry)),
    add: (key, amount, expiresInMs) => store.add(key, amount, expiresInMs),
    now: () => store.now(),
    removeAll: (prefix) => store.removeAll(prefix),
    close: () => store.close(),
  };
}

/**
 * Seals the values and the entries of logs that begin with these parts with the newest key. Others may write meanwhile, where
 * all seal with the newest key.
 *
 * @returns how many values and entries were sealed anew.
 */
export async function reseal(store: Store, keys: readonly SealingKey[], prefix: StoreKey): Promise<number> {
  let count = 0;
  for await (const key of keysOf((options) => store.list(prefix, options)))
    if (await resealOne(store, keys, key)) count += 1;
  for await (const key of keysOf((options) => store.listLogs(prefix, options)))
    count += await resealLog(store, keys, key);
  return count;
}

async function* keysOf(list: (options: ListOptions) => Promise<StoreKey[]>): AsyncGenerator<StoreKey> {
  let after: StoreKey | undefined;
  do {
    const page = await list({ after });
    yield* page;
    after = page.at(-1);
  } while (after !== undefined);
}

async function resealLog(store: Store, keys: readonly SealingKey[], key: StoreKey): Promise<number> {
  const context = contextOf(key, "entry");
  let [count, from] = [0, 0];
  for (;;) {
    const page = await store.entries(key, { from });
    for (const [at, entry] of page.entries()) {
      if (keyIdOf(entry) === keys[0]?.id) continue;
      const clear = unseal(keys, context, entry, key.join("/"));
      await store.rewriteEntry(key, from + at, seal(keys, context, clear));
      count += 1;
    }
    if (page.length === 0) return count;
    from += page.length;
  }
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
