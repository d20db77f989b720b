import { CemError, keysIn } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";

/** The storage of files does not answer, or refuses. */
export function filesUnavailable(location: string, why: string, cause?: unknown): CemError {
  const message = `The shared files at ${location} can't be used: ${why}.`;
  return new CemError("FILES_UNAVAILABLE", message, { cause, details: { location } });
}

/** Shared content is missing or differs from what was written: `FILES_DAMAGED`. */
export function filesDamaged(location: string, what: string): CemError {
  const message = `The shared files at ${location} are damaged: ${what}. Nothing was changed here.`;
  return new CemError("FILES_DAMAGED", message, { details: { location } });
}

/** There is more than a workspace may hold. */
export function tooManyFiles(count: number, bytes: number, limits: Limits): CemError {
  const message = `The workspace has ${count} files with ${bytes} bytes; at most ${limits.maxFiles} files with ${limits.maxBytes} bytes are shared.`;
  return new CemError("WORKSPACE_FULL", message, { details: { files: count, bytes, ...limits } });
}

/** The workspace was deleted by someone else. */
export function workspaceGone(): CemError {
  return new CemError("OWNER_GONE", "The workspace was deleted meanwhile, and what the run wrote, too.");
}

/** Maximum size of a shared workspace: its quota and some room. */
export interface Limits {
  maxFiles: number;
  maxBytes: number;
}

/** Where the pieces of one workspace's files are. Names are letters, digits, `-`, `_` and `.`. */
export interface BlobStore {
  readonly specificationVersion: "v1";
  /** Where it is, for people. Without user and password. */
  readonly location: string;
  /** Tells it from other places, as far as a name does: one place may have several. */
  readonly place: string;
  read(name: string): Promise<Uint8Array | undefined>;
  write(name: string, bytes: Uint8Array): Promise<void>;
  remove(name: string): Promise<void>;
  /** The names of all pieces. */
  names(): AsyncIterable<string>;
}

const PIECES = "pieces";

/** Keeps pieces as values of a store, which is enough for small workspaces. */
export function createStoreBlobs(store: Store): BlobStore {
  const keyOf = (name: string): StoreKey => [PIECES, name];
  return {
    specificationVersion: "v1",
    location: store.location,
    place: "store",
    read: async (name) => (await store.read(keyOf(name)))?.value,
    write: async (name, bytes) => void (await store.write(keyOf(name), bytes)),
    remove: async (name) => void (await store.remove(keyOf(name))),
    async *names() {
      for await (const [, name = ""] of keysIn(store, [PIECES])) yield name;
    },
  };
}

/** Encrypts pieces, such as with the keys of a sealed store. */
export interface BlobSealer {
  /** @param context - Binds what is sealed to its place: it opens nowhere else. */
  seal: (context: Buffer, bytes: Uint8Array) => Uint8Array;
  /** @param place - The place for messages. */
  unseal: (context: Buffer, sealed: Uint8Array, place: string) => Uint8Array;
}

/** Seals pieces before they leave. A sealed piece opens as the same piece of the same place only. */
export function sealBlobs(blobs: BlobStore, { seal, unseal }: BlobSealer): BlobStore {
  const contextOf = (name: string): Buffer => Buffer.from(`piece:${blobs.location}:${name}`);
  return {
    specificationVersion: "v1",
    location: blobs.location,
    place: blobs.place,
    async read(name) {
      const sealed = await blobs.read(name);
      return sealed && unseal(contextOf(name), sealed, `${blobs.location}/${name}`);
    },
    write: async (name, bytes) => blobs.write(name, seal(contextOf(name), bytes)),
    remove: (name) => blobs.remove(name),
    names: () => blobs.names(),
  };
}
