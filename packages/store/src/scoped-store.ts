import type { Store, StoreKey } from "@cem/core";
import { encodeKey } from "./keys.ts";

/**
 * A part of a store that can't be left: every key begins with these parts, and closing it does nothing. For one
 * owner, or one purpose.
 */
export function scopeStore(store: Store, ...scope: [string, ...string[]]): Store {
  const under = (prefix: StoreKey): StoreKey => [...scope, ...prefix];
  const within = (key: StoreKey): StoreKey => {
    encodeKey(key); // refuses one that is none, as the whole store would
    return under(key);
  };
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (key) => store.read(within(key)),
    write: async (key, value, options) => store.write(within(key), value, options),
    remove: async (key, version) => store.remove(within(key), version),
    list: async (prefix, { after, limit } = {}) => {
      const found = await store.list(under(prefix), {
        limit,
        after: after === undefined ? undefined : within(after),
      });
      return found.map((key) => key.slice(scope.length));
    },
    now: async () => store.now(),
    removeAll: async (prefix) => store.removeAll(within(prefix)),
    close: async () => {},
  };
}
