import { randomBytes } from "node:crypto";
import { CemError, parseJson, updateStored } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import pMap from "p-map";
import { filesDamaged, filesUnavailable, tooManyFiles } from "./blobs.ts";
import type { BlobStore, Limits } from "./blobs.ts";
import { digestOf, digestPiece, foldersOf, isPieceName, pathProblem, PIECE_BYTES } from "./file-content.ts";
import type { FileEntry, Files } from "./file-content.ts";

const HEAD = ["head"];
/** Pieces that were unreferenced at the last check. */
export const MARKED: StoreKey = ["marked"];
const SESSIONS: StoreKey = ["sessions"];
const FORMAT = 1;
const SALT_BYTES = 32;
const MAX_BURIED = 16;
const LINE_BYTES = 6;
/** How many heads back a store that was set back is noticed. */
const MAX_LINE = 32;
/** How long tombstones are kept for machines with a local copy. */
const KEEP_TOMBSTONE_MS = 365 * 86_400_000;
export const PIECES_AT_ONCE = 8;

/** Points to the newest manifest: the only value that is written by compare-and-set. */
export interface Head {
  /** The salt of digests. A different salt means a different workspace. */
  salt: string;
  /** The pieces of the manifest. `undefined` if the workspace was deleted. */
  manifest: readonly string[] | undefined;
  /** The location of the pieces. Absent: written by an earlier version. */
  place?: string | undefined;
  /** The salts of workspaces that were deleted before. */
  buried: readonly string[];
  /** Number of garbage collections. Pieces sent before the last one are sent again. */
  sweeps: number;
  /** The ids of the newest heads with other files, its own first. Absent: written by an earlier version. */
  line?: readonly string[] | undefined;
  /** Upper bound of the size of replaced pieces that are not removed yet. Absent: none. */
  replaced?: number | undefined;
}

/** A head as read from the store. The version is empty if there is none. */
export interface ReadHead {
  head: Head | undefined;
  version: string;
}

export interface SharedCopySettings {
  /** The part of a store that belongs to the workspace. */
  store: Store;
  blobs: BlobStore;
  roots: ReadonlySet<string>;
  limits: Limits;
}

/** The shared copy of a workspace. */
export type SharedCopy = ReturnType<typeof createSharedCopy>;

export function createSharedCopy({ store, blobs, roots, limits }: SharedCopySettings) {
  async function readHead(): Promise<ReadHead> {
    const found = await store.read(HEAD);
    if (found === undefined) return { head: undefined, version: "" };
    const head = parseHead(found.value);
    if (head === undefined) throw filesDamaged(blobs.location, "what names the newest files can't be read");
    return { head, version: found.version };
  }

  /** @throws CemError `FILES_DAMAGED` */
  async function readPiece(name: string, salt: string): Promise<Uint8Array> {
    const bytes = await blobs.read(name);
    if (bytes === undefined) throw filesDamaged(blobs.location, `the piece ${name} is missing`);
    if (digestPiece(salt, bytes) !== digestOf(name))
      throw filesDamaged(blobs.location, `the piece ${name} is not what it was`);
    return bytes;
  }

  /** Deletes the workspace. Machines drop their copies, including the output of current runs. @returns whether there was one. */
  async function remove(): Promise<boolean> {
    const { head, version } = await readHead();
    const salts = head === undefined ? [] : [...head.buried, ...(head.salt === "" ? [] : [head.salt])];
    const buried = salts.slice(-MAX_BURIED);
    const tombstone = encodeHead({ salt: "", manifest: undefined, buried, sweeps: 0 });
    try {
      await store.write(HEAD, tombstone, { version, expiresInMs: KEEP_TOMBSTONE_MS });
    } catch (error) {
      if (isConflict(error)) return remove();
      throw error;
    }
    const names: string[] = [];
    for await (const name of blobs.names()) names.push(name);
    await pMap(names, (name) => blobs.remove(name), { concurrency: PIECES_AT_ONCE });
    await store.removeAll(MARKED);
    await store.removeAll(SESSIONS);
    return head?.manifest !== undefined || names.length > 0;
  }

  return {
    blobs,
    limits,
    readHead,
    readPiece,
    remove,
    /** Publishes a manifest. @throws CemError `STORE_CONFLICT` if another was published meanwhile. */
    writeHead: (head: Head, version: string) => store.write(HEAD, encodeHead(head), { version }),
    /** @throws CemError `STORE_CONFLICT` when another was written meanwhile. */
    removeHead: (version: string) => store.remove(HEAD, version),
    /** @throws CemError `FILES_UNAVAILABLE` if the pieces of a head are in another storage, since neither would then be complete. */
    async assertHere({ manifest: [first] = [], place }: Partial<Head> = {}): Promise<void> {
      // It may be the same storage under another name, or a copy of it.
      if (first === undefined || place === blobs.place || (await blobs.read(first)) !== undefined) return;
      const why = "those of this workspace were put elsewhere, under another store.files (CEM_STORE_FILES)";
      throw filesUnavailable(blobs.location, `${why}. Set it back, or copy all of them here`);
    },
    async readFiles({ manifest = [], salt }: Head): Promise<Map<string, FileEntry>> {
      const concurrency = PIECES_AT_ONCE;
      const pieces = await pMap(manifest, (name) => readPiece(name, salt), { concurrency });
      if (pieces.length === 0) return new Map();
      return parseManifest(Buffer.concat(pieces), { location: blobs.location, roots, limits });
    },
  };
}

/** The number of the next session of a workspace, across machines. */
export async function nextSessionNumber(store: Store): Promise<number> {
  return updateStored(store, SESSIONS, (found) => {
    const result = Number(Buffer.from(found ?? []).toString() || 0) + 1;
    return { value: Buffer.from(String(result)), result };
  });
}

/** Creates the first head of a workspace. */
export function newHead({ buried = [] }: Partial<Head> = {}): Head {
  return { salt: randomBytes(SALT_BYTES).toString("base64url"), manifest: [], buried, sweeps: 0 };
}

/** The line of a head that follows another. */
export function lineAfter({ line = [] }: Head): string[] {
  return [randomBytes(LINE_BYTES).toString("base64url"), ...line].slice(0, MAX_LINE);
}

export function isConflict(error: unknown): boolean {
  return CemError.isInstance(error) && error.code === "STORE_CONFLICT";
}

function encodeHead({ manifest, ...head }: Head): Buffer {
  return Buffer.from(JSON.stringify({ ...head, format: FORMAT, manifest: manifest ?? null }));
}

function parseHead(bytes: Uint8Array): Head | undefined {
  const found = (parseJson(bytes) ?? {}) as Record<string, unknown>;
  const { format, salt, manifest, place, buried, sweeps, line, replaced } = found;
  const isList = Array.isArray(manifest) && manifest.every(isPieceName);
  if (format !== FORMAT || typeof salt !== "string" || !(isList || manifest === null)) return undefined;
  if (!isTexts(buried)) return undefined;
  if (typeof sweeps !== "number") return undefined;
  const head = { salt, manifest: isList ? manifest : undefined, buried, sweeps };
  if (typeof place === "string") Object.assign(head, { place });
  if (isTexts(line)) Object.assign(head, { line });
  return typeof replaced === "number" ? { ...head, replaced } : head;
}

function isTexts(found: unknown): found is string[] {
  return Array.isArray(found) && found.every((one) => typeof one === "string");
}

/** Serializes the files of a workspace deterministically. */
export function encodeManifest(files: Files): Buffer {
  const rows = [...files]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([path, { size, pieces }]) => JSON.stringify([path, size, ...pieces]));
  return Buffer.from(`{"format":${FORMAT},"files":[\n${rows.join(",\n")}\n]}\n`);
}

/**
 * Parses a manifest written by another machine.
 *
 * @param roots - The allowed root folders of paths.
 * @throws CemError `FILES_DAMAGED`, or `WORKSPACE_FULL` if it exceeds the limits.
 */
function parseManifest(
  bytes: Uint8Array,
  { location, roots, limits }: { location: string; roots: ReadonlySet<string>; limits: Limits },
): Map<string, FileEntry> {
  const damaged = (what: string): never => {
    throw filesDamaged(location, what);
  };
  const { format, files: rows } = (parseJson(bytes) ?? {}) as Record<string, unknown>;
  if (format !== FORMAT || !Array.isArray(rows)) return damaged("the list of files can't be read");
  const files = new Map<string, FileEntry>();
  let total = 0;
  for (const row of rows) {
    const [path, size, ...pieces] = Array.isArray(row) ? (row as unknown[]) : [];
    if (
      typeof path !== "string" ||
      pathProblem(path) !== undefined ||
      !roots.has(path.split("/", 1)[0] ?? "")
    )
      return damaged("a file in their list has a path that is not allowed");
    const isSized = typeof size === "number" && Number.isSafeInteger(size) && size >= 0;
    if (!isSized || Math.ceil(size / PIECE_BYTES) !== pieces.length || !pieces.every(isPieceName))
      return damaged(`the entry of ${path} can't be read`);
    if (files.has(path)) return damaged(`${path} is in their list twice`);
    files.set(path, { size, pieces });
    total += size;
  }
  if (files.size > limits.maxFiles || total > limits.maxBytes) throw tooManyFiles(files.size, total, limits);
  const tangled = [...files.keys()].find((path) => foldersOf(path).some((folder) => files.has(folder)));
  return tangled === undefined ? files : damaged(`a folder of ${tangled} is a file, too`);
}
