import { seal, unseal } from "@cem/store";
import type { SealingKey } from "@cem/store";
import type { BlobStore } from "./blobs.ts";

/** Seals pieces before they leave. What was sealed opens as the same piece of the same place only. */
export function sealBlobs(blobs: BlobStore, keys: readonly SealingKey[]): BlobStore {
  const contextOf = (name: string): Buffer => Buffer.from(`piece:${blobs.location}:${name}`);
  return {
    specificationVersion: "v1",
    location: blobs.location,
    async read(name) {
      const sealed = await blobs.read(name);
      return sealed && unseal(keys, contextOf(name), sealed, `${blobs.location}/${name}`);
    },
    write: async (name, bytes) => blobs.write(name, seal(keys, contextOf(name), bytes)),
    remove: (name) => blobs.remove(name),
    names: () => blobs.names(),
  };
}
