import pMap from "p-map";
import { digestOf, digestPiece, isSame, namePiece, PIECE_BYTES } from "./file-content.ts";
import type { FileEntry, Files, LocalFile, LocalFiles } from "./file-content.ts";
import type { LocalFolders } from "./local-folders.ts";
import { sharedPieces } from "./reconcile.ts";
import type { Reconciled } from "./reconcile.ts";
import { encodeManifest } from "./shared-copy.ts";
import type { Head, SharedCopy } from "./shared-copy.ts";

const FILES_AT_ONCE = 8;
const MAX_WRITING_BYTES = FILES_AT_ONCE * PIECE_BYTES;

/** The files of both sides, which a plan brings together. */
export interface PlannedSides {
  shared: SharedCopy;
  local: LocalFolders;
  /** The files of this machine. They are changed to what is here afterwards. */
  files: LocalFiles;
  remote: Files;
  salt: string;
}

/** Gives this machine what the plan has. @returns whether something came from elsewhere. */
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

/** Sends pieces of files, and none a second time while it may still be there. */
export function createFileSender({ shared: { blobs }, local }: Pick<PlannedSides, "shared" | "local">) {
  /** The names of pieces that were sent, by salt and digest. */
  const sent = new Map<string, string>();
  let sweeps: number | undefined;
  /** All that was written, and goes when the workspace is deleted meanwhile. */
  const allWritten: string[] = [];
  /** Writes under way, and how many bytes they hold in memory. */
  const writing: Promise<void>[] = [];
  let writingBytes = 0;

  /** Waits until all is written, also where a part fails: nothing is to be written after an attempt has ended. */
  async function settle(): Promise<void> {
    const ends = await Promise.allSettled(writing.splice(0));
    const failed = ends.find((end) => end.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** Sends the file's current content, which may differ from the scanned one. */
  async function sendFile(path: string, salt: string, names: Map<string, string>): Promise<LocalFile> {
    const pieces: string[] = [];
    let size = 0;
    const signature = await local.read(path, async (piece) => {
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

  /** Begins to write a piece. */
  function write(bytes: Uint8Array, digest: string): { name: string; written: Promise<void> } {
    const name = namePiece(digest);
    allWritten.push(name);
    writingBytes += bytes.length;
    const written = blobs.write(name, bytes).finally(() => (writingBytes -= bytes.length));
    // Thrown where it is waited for.
    written.catch(() => {});
    writing.push(written);
    return { name, written };
  }

  return {
    settle,
    /** Ends what an attempt before was writing, and forgets what may have been swept away since it was sent. */
    async begin(head: Head | undefined): Promise<void> {
      await Promise.allSettled(writing.splice(0));
      if (sweeps !== head?.sweeps) sent.clear();
      sweeps = head?.sweeps;
    },
    /** Sends what is new here; all of it is written once `settle` resolves. @returns the files with the names of their pieces. */
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
    /** Sends the list of all files, which is written once `settle` resolves. @returns the names of its pieces, and its size. */
    sendManifest(files: Files, salt: string): { manifest: string[]; bytes: number } {
      const bytes = encodeManifest(files);
      const manifest: string[] = [];
      for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
        const piece = bytes.subarray(at, at + PIECE_BYTES);
        manifest.push(write(piece, digestPiece(salt, piece)).name);
      }
      return { manifest, bytes: bytes.length };
    },
    /** Removes all that was sent. */
    async takeBack(): Promise<void> {
      await pMap(allWritten, (name) => blobs.remove(name), { concurrency: FILES_AT_ONCE });
    },
  };
}
