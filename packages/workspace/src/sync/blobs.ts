import { abandonOnAbort, CemError, keysIn } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";

/** `FILES_UNAVAILABLE`: the file storage does not respond or refuses access. */
export function filesUnavailable(location: string, why: string, cause?: unknown): CemError {
  const message = `The shared files at ${location} can't be used: ${why}.`;
  return new CemError("FILES_UNAVAILABLE", message, { cause, details: { location } });
}

/** Shared content is missing or differs from what was written: `FILES_DAMAGED`. */
export function filesDamaged(location: string, what: string): CemError {
  const message = `The shared files at ${location} are damaged: ${what}. Nothing was changed here.`;
  return new CemError("FILES_DAMAGED", message, { details: { location } });
}

/** The files exceed the limits of a workspace. */
export function tooManyFiles(count: number, bytes: number, limits: Limits): CemError {
  const message = `The workspace has ${count} files with ${bytes} bytes; at most ${limits.maxFiles} files with ${limits.maxBytes} bytes are shared.`;
  return new CemError("WORKSPACE_FULL", message, { details: { files: count, bytes, ...limits } });
}

/** The workspace was deleted by another process. */
export function workspaceGone(): CemError {
  return new CemError("OWNER_GONE", "The workspace was deleted meanwhile, and what the run wrote, too.");
}

/** Maximum size of a shared workspace: its quota and some margin. */
export interface Limits {
  maxFiles: number;
  maxBytes: number;
}

/** Storage of the pieces of one workspace's files. Names are letters, digits, `-`, `_` and `.`. Signals end requests under way. */
export interface BlobStore {
  readonly specificationVersion: "v1";
  /** Its location, for display. Without user and password. */
  readonly location: string;
  /** Identifies the storage by name; the same storage may have several names. */
  readonly place: string;
  read(name: string, signal?: AbortSignal): Promise<Uint8Array | undefined>;
  write(name: string, bytes: Uint8Array, signal?: AbortSignal): Promise<void>;
  remove(name: string, signal?: AbortSignal): Promise<void>;
  /** The names of all pieces. */
  names(signal?: AbortSignal): AsyncIterable<string>;
}

/**
 * Storage whose requests end when a signal aborts, also if it does not heed signals itself.
 *
 * @param signals - `others` are removals, which must not end with the run of a deleted customer, and lists of names.
 * @param onAnswer - Called when the content of a piece was read or written.
 */
export function untilAborted(
  blobs: BlobStore,
  { reads, writes, others }: Record<"reads" | "writes" | "others", AbortSignal>,
  onAnswer: () => void,
): BlobStore {
  const { location, place } = blobs;
  const answered = async <Result>(request: Promise<Result>): Promise<Result> => {
    const result = await request;
    onAnswer();
    return result;
  };
  return {
    specificationVersion: "v1",
    location,
    place,
    read: (name) => abandonOnAbort(answered(blobs.read(name, reads)), reads),
    write: (name, bytes) => abandonOnAbort(answered(blobs.write(name, bytes, writes)), writes),
    remove: (name) => abandonOnAbort(blobs.remove(name, others), others),
    names: () => blobs.names(others),
  };
}

const PIECES = "pieces";

/** Stores pieces as values of a store, which suffices for small workspaces. */
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
  /** @param context - Binds the encrypted data to its location, so that it can't be decrypted elsewhere. */
  seal: (context: Buffer, bytes: Uint8Array) => Uint8Array;
  /** @param place - The location, for messages. */
  unseal: (context: Buffer, sealed: Uint8Array, place: string) => Uint8Array;
}

/** Encrypts pieces before they are uploaded. A piece can only be decrypted under the same name and location. */
export function sealBlobs(blobs: BlobStore, { seal, unseal }: BlobSealer): BlobStore {
  const contextOf = (name: string): Buffer => Buffer.from(`piece:${blobs.location}:${name}`);
  return {
    specificationVersion: "v1",
    location: blobs.location,
    place: blobs.place,
    async read(name, signal) {
      const sealed = await blobs.read(name, signal);
      return sealed && unseal(contextOf(name), sealed, `${blobs.location}/${name}`);
    },
    write: async (name, bytes, signal) => blobs.write(name, seal(contextOf(name), bytes), signal),
    remove: (name, signal) => blobs.remove(name, signal),
    names: (signal) => blobs.names(signal),
  };
}
