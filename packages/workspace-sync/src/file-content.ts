import { constants } from "node:fs";
import type { BigIntStats } from "node:fs";
import { open } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { digestPiece, PIECE_BYTES } from "./file-entry.ts";
import type { FileEntry } from "./file-entry.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** A file that was changed so shortly before it was read may be changed again without its time telling. */
const UNSURE_MS = 100;

/** A file of this machine. */
export interface LocalFile extends FileEntry {
  /** Of the file's inode, size and times. Absent where they may stay the same when the content changes. */
  signature?: string | undefined;
}

export type LocalFiles = Map<string, LocalFile>;

/** Thrown when a file was changed since it was looked at. */
export class ChangedMeanwhile extends Error {}

/** Without O_NONBLOCK a named pipe that guest code put there would block. */
export async function openFile(file: string): Promise<FileHandle | undefined> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" && error.code !== "ELOOP") throw error;
      return undefined;
    },
  );
  if (handle === undefined || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

/** Reads a file's digests. @returns `undefined` where it is gone, or is no file. */
export async function digestFile(file: string, salt: string): Promise<LocalFile | undefined> {
  await using handle = await openFile(file);
  if (handle === undefined) return undefined;
  const before = await handle.stat({ bigint: true });
  const openedMs = Date.now();
  const pieces: string[] = [];
  let size = 0;
  for await (const piece of piecesOf(handle, Number(before.size))) {
    pieces.push(digestPiece(salt, piece));
    size += piece.length;
  }
  return { size, pieces, signature: isSettled(before, openedMs) ? signatureOf(before) : undefined };
}

/** Reads a file piece by piece, each into a buffer of its own. */
export async function* piecesOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
    let read = 0;
    while (read < piece.length) {
      const { bytesRead } = await handle.read(piece, read, piece.length - read, at + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    if (read > 0) yield piece.subarray(0, read);
    // Cut off meanwhile.
    if (read < piece.length) return;
  }
}

export function signatureOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(".");
}

/** Whether a change after this moment would show in the file's times, which nobody in the sandbox can set. */
export function isSettled({ ctimeMs }: BigIntStats, atMs: number): boolean {
  return Number(ctimeMs) < atMs - UNSURE_MS;
}

export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
