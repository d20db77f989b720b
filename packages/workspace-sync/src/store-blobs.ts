import type { Store, StoreKey } from "@cem/core";
import type { BlobStore } from "./blobs.ts";

const PIECES = "pieces";

/** Keeps pieces as values of a store, which is enough for small workspaces. */
export function createStoreBlobs(store: Store): BlobStore {
  const keyOf = (name: string): StoreKey => [PIECES, name];
  return {
    specificationVersion: "v1",
    location: store.location,
    read: async (name) => (await store.read(keyOf(name)))?.value,
    write: async (name, bytes) => void (await store.write(keyOf(name), bytes)),
    remove: async (name) => void (await store.remove(keyOf(name))),
    async *names() {
      let after: StoreKey | undefined;
      do {
        const page = await store.list([PIECES], { after });
        for (const [, name = ""] of page) yield name;
        after = page.at(-1);
      } while (after !== undefined);
    },
  };
}
