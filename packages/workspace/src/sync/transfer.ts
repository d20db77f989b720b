import pMap from "p-map";
import { workspaceGone } from "./blobs.ts";
import { digestOf, digestPiece, isSame, namePiece, PIECE_BYTES } from "./file-content.ts";
import type { FileEntry, Files, LocalFile, LocalFiles } from "./file-content.ts";
import type { LocalFolders } from "./local-folders.ts";
import { sharedPieces } from "./reconcile.ts";
import type { Reconciled } from "./reconcile.ts";
import { encodeManifest } from "./shared-copy.ts";
import type { Head, SharedCopy } from "./shared-copy.ts";

const FILES_AT_ONCE = 8;
const MAX_WRITING_BYTES = FILES_AT_ONCE * PIECE_BYTES;

/** The files of both sides for a plan. */
export interface PlannedSides {
  shared: SharedCopy;
  local: LocalFolders;
  /** The local files. Updated in place. */
  files: LocalFiles;
  remote: Files;
  salt: string;
}

/** Applies a plan locally. @returns whether something was fetched. */
export async function applyPlan({ files: planned }: Reconciled, sides: PlannedSides): Promise<boolean> {
  const { files, local } = sides;
  const before = files.size;
  for (const [path, { from, path: old }] of planned) {
    const file = files.get(old);
    if (from !== "local" || path === old || file === undefined) continue;
    await local.move(old, path, file);
    files.delete(old);
    files.set(path, { ...file, signature: undefined });
  }
  let isChanged = files.size !== before;
  for (const [path, file] of files) {
    if (planned.has(path)) continue;
    await local.remove(path, file);
    files.delete(path);
    isChanged = true;
  }
  return (await fetchFiles(planned, sides)) || isChanged;
}

async function fetchFiles(
  planned: Reconciled["files"],
  { files, local, remote, salt, shared }: PlannedSides,
): Promise<boolean> {
  const fetched = [...planned].filter(
    ([path, { from, path: old }]) => from === "remote" && !isSame(files.get(path), remote.get(old)),
  );
  let failure: { error: unknown } | undefined;
  const fetch = async ([path, { path: old }]: (typeof fetched)[number]): Promise<void> => {
    // After a failure no further file is written, but writes in progress finish: a retry must not meet partial files.
    if (failure !== undefined) return;
    const entry = remote.get(old) as FileEntry;
    try {
      const signature = await local.write(path, sharedPieces(entry, shared, salt), files.get(path));
      files.set(path, { ...entry, signature });
    } catch (error) {
      failure ??= { error };
    }
  };
  await pMap(fetched, fetch, { concurrency: FILES_AT_ONCE });
  if (failure !== undefined) throw failure.error;
  return fetched.length > 0;
}

/** Uploads pieces of files, skipping those that may still be stored. */
export function createFileSender({
  shared: { blobs },
  local,
  isThere,
}: Pick<PlannedSides, "shared" | "local"> & { isThere: (() => Promise<boolean>) | undefined }) {
  /** The names of sent pieces, by salt and digest. */
  const sent = new Map<string, string>();
  let sweeps: number | undefined;
  /** All written pieces, which are removed if the workspace is deleted meanwhile. */
  const allWritten: string[] = [];
  /** Pending writes, and the bytes they hold in memory. */
  const writing = new Set<Promise<void>>();
  let failure: { error: unknown } | undefined;
  let isEnded = false;
  let writingBytes = 0;

  /** Waits for all writes even if one fails, since nothing may be written after an attempt has ended. */
  async function settle(): Promise<void> {
    await Promise.allSettled(writing);
    if (failure !== undefined) throw failure.error;
  }

  /** Sends the file's current content, which may differ from the scanned one. */
  async function sendFile(path: string, salt: string, names: Map<string, string>): Promise<LocalFile> {
    const pieces: string[] = [];
    let size = 0;
    const signature = await local.read(path, async (piece) => {
      if ((await isThere?.()) === false) throw workspaceGone();
      const digest = digestPiece(salt, piece);
      const key = `${salt} ${digest}`;
      let name = names.get(digest) ?? sent.get(key);
      if (name === undefined) {
        const begun = write(piece, digest);
        ({ name } = begun);
        sent.set(key, name);
        begun.written.catch(() => sent.delete(key));
      }
      pieces.push(name);
      if (writingBytes > MAX_WRITING_BYTES) await settle();
      size += piece.length;
    });
    return { size, pieces, signature };
  }

  function write(bytes: Uint8Array, digest: string): { name: string; written: Promise<void> } {
    if (isEnded) throw workspaceGone();
    const name = namePiece(digest);
    allWritten.push(name);
    writingBytes += bytes.length;
    const written = blobs.write(name, bytes).finally(() => {
      writingBytes -= bytes.length;
      writing.delete(written);
    });
    // Thrown where it is awaited.
    written.catch((error: unknown) => (failure ??= { error }));
    writing.add(written);
    return { name, written };
  }

  return {
    settle,
    /** Waits for writes of the previous attempt, and forgets pieces that may have been garbage-collected since. */
    async begin(head: Head | undefined): Promise<void> {
      await Promise.allSettled(writing);
      failure = undefined;
      if (sweeps !== head?.sweeps) sent.clear();
      sweeps = head?.sweeps;
    },
    /** Uploads new local content, which is complete when `settle` resolves. @returns the files with the names of their pieces. */
    async send({ files: planned }: Reconciled, { files, remote, salt }: PlannedSides): Promise<LocalFiles> {
      const names = new Map<string, string>();
      for (const { pieces } of remote.values()) for (const name of pieces) names.set(digestOf(name), name);
      const target: LocalFiles = new Map();
      await pMap(
        planned,
        async ([path, { from, path: old }]) => {
          const file = files.get(path);
          if (from === "remote")
            target.set(path, { ...(remote.get(old) as FileEntry), signature: file?.signature });
          else if (file !== undefined) target.set(path, await sendFile(path, salt, names));
        },
        { concurrency: FILES_AT_ONCE },
      );
      return target;
    },
    /** Uploads the list of all files, which is complete when `settle` resolves. @returns the names of its pieces, and its size. */
    sendManifest(files: Files, salt: string): { manifest: string[]; bytes: number } {
      const bytes = encodeManifest(files);
      const manifest: string[] = [];
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        manifest.push(write(piece, digestPiece(salt, piece)).name);
      }
      return { manifest, bytes: bytes.length };
    },
    /** Ends all writes. Nothing is sent from then on. */
    async end(): Promise<void> {
      isEnded = true;
      await Promise.allSettled(writing);
    },
    /** Removes everything that was sent. */
    async takeBack(): Promise<void> {
      await pMap(allWritten, (name) => blobs.remove(name), { concurrency: FILES_AT_ONCE });
    },
  };
}
