import { CemError } from "@cem/core";
import { loadFrom } from "../wiring/load.ts";
import { requireStoreUrl } from "../wiring/required-store.ts";
import { openUnsealed, sealingKeysOf } from "../wiring/shared-store.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** What {@link resealSharedStore} has done. */
export interface ResealedStore {
  /** Where the store is. */
  location: string;
  /** The name of the key that all values are sealed with now. */
  key: string;
  /** How many values were sealed with another. */
  resealed: number;
}

/**
 * Seals what is in the store with the first of `store.keys`, while machines go on. Afterwards the others can be left out.
 *
 * @throws CemError `CONFIG_INVALID` without store or keys, `STORE_UNAVAILABLE`, `STORE_SEALED`.
 */
export async function resealSharedStore(source: ServerSource = {}): Promise<ResealedStore> {
  const loaded = await loadFrom(source);
  const url = await requireStoreUrl(loaded);
  const keys = await sealingKeysOf(loaded.config);
  const [newest] = keys ?? [];
  if (keys === undefined || newest === undefined) {
    throw new CemError("CONFIG_INVALID", "There are no keys to seal with. Set store.keys (CEM_STORE_KEYS).", {
      details: { setting: "store.keys" },
    });
  }
  const { reseal } = await import("@cem/store");
  const store = await openUnsealed(loaded.config, url);
  try {
    return { location: store.location, key: newest.id, resealed: await reseal(store, keys, []) };
  } finally {
    await store.close();
  }
}
