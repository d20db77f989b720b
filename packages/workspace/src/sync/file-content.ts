import { createHmac, randomBytes } from "node:crypto";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { join, parse } from "node:path/posix";
import { readAt } from "@cem/core/files";

/** Maximum size of a file's pieces, so that appending to a long file does not upload all of it again. */
export const PIECE_BYTES = 1024 * 1024;

const NONCE_BYTES = 9;
const PIECE_NAME = /^[\w-]{43}\.[\w-]{12}$/;

export interface FileEntry {
  size: number;
  /** Digests for a local file, names for a shared one. */
  pieces: readonly string[];
}

/** Files by their paths: `workspace/state.json`. */
export type Files = ReadonlyMap<string, FileEntry>;

/** The digest of a piece, which can't be computed from its content without the salt. */
export function digestPiece(salt: string, bytes: Uint8Array): string {
  return createHmac("sha256", salt).update(bytes).digest("base64url");
}

/**
 * A new name for a piece. Names are never reused, so that garbage collection can't remove a piece with the same content
 * that is being uploaded.
 */
export function namePiece(digest: string): string {
  return `${digest}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
}

/** The digest in a piece's name. */
export function digestOf(name: string): string {
  return name.split(".", 1)[0] ?? "";
}

export function isPieceName(name: unknown): name is string {
  return typeof name === "string" && PIECE_NAME.test(name);
}

/** Whether two entries have the same content. `undefined` means no file. */
export function isSame(one: FileEntry | undefined, other: FileEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.size === other.size &&
    one.pieces.length === other.pieces.length &&
    one.pieces.every((piece, at) => digestOf(piece) === digestOf(other.pieces[at] ?? ""))
  );
}

/** The total size of pieces in `files` that are not in `others`. */
export function bytesOfPieces(files: Files, others: Files): number {
  const known = new Set([...others.values()].flatMap(({ pieces }) => pieces));
  let bytes = 0;
  for (const { size, pieces } of files.values())
    for (const [at, name] of pieces.entries()) {
      if (known.has(name)) continue;
      known.add(name);
      bytes += Math.min(PIECE_BYTES, size - at * PIECE_BYTES);
    }
  return bytes;
}

const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;
const MAX_PARTS = 64;
const FORBIDDEN = process.platform === "win32" ? /[\0\\:]/ : /\0/;

/** Why a path can't be shared; `undefined` if it can. It may come from another machine, or from hostile code. */
export function pathProblem(path: string): string | undefined {
  if (!path.isWellFormed() || path.includes("\uFFFD")) return "its name is not valid Unicode";
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) return `its path has more than ${MAX_PATH_BYTES} bytes`;
  const parts = path.split("/");
  if (parts.length < 2) return "it is in no folder";
  if (parts.length > MAX_PARTS) return `it is more than ${MAX_PARTS} folders deep`;
  if (parts.some((part) => part === "" || part === "." || part === "..")) return "its path leads elsewhere";
  if (FORBIDDEN.test(path)) return "its name has a character that is not allowed";
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) return "its name is too long";
  return undefined;
}

/** The parent folders of a path: `a`, `a/b` for `a/b/c`. */
export function foldersOf(path: string): string[] {
  const parts = path.split("/");
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join("/"));
}

/** The name of a conflicting version next to a file. Equal contents get equal names. */
export function nameBeside(path: string, digest: string): string {
  const { dir, base, ext } = parse(path);
  const ending = ext.length <= MAX_ENDING ? ext : "";
  const mark = `.conflict-${digest.slice(0, MARK_CHARACTERS).replaceAll("_", "-")}`;
  let stem = base.slice(0, base.length - ending.length);
  while (Buffer.byteLength(stem + mark + ending) > MAX_NAME_BYTES)
    stem = Array.from(stem).slice(0, -1).join("");
  return join(dir, stem + mark + ending);
}

const MAX_ENDING = 12;
const MARK_CHARACTERS = 12;

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
/** A file modified this shortly before it was read may be modified again without a change of its time. */
const UNSURE_MS = 100;

export interface LocalFile extends FileEntry {
  /** Made of the file's inode, size and times. Absent if they are unreliable, because the content may change without them. */
  signature?: string | undefined;
}

export type LocalFiles = Map<string, LocalFile>;

/** Thrown if a file was changed since it was scanned. */
export class ChangedMeanwhile extends Error {}

/**
 * Reads a file piece by piece, each into a new buffer.
 *
 * @returns its signature if reliable, and whether it was unchanged. `undefined` if it is missing or not a file.
 */
export async function readPieces(
  file: string,
  take: (piece: Buffer) => void | Promise<void>,
): Promise<{ signature: string | undefined; isChanged: boolean } | undefined> {
  const descriptor = openFile(file);
  if (descriptor === undefined) return undefined;
  try {
    const before = fstatSync(descriptor, { bigint: true });
    if (!before.isFile()) return undefined;
    const openedMs = Date.now();
    const size = Number(before.size);
    for (let at = 0; at < size; at += PIECE_BYTES) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
      const read = await readAt(descriptor, piece, at);
      if (read > 0) await take(piece.subarray(0, read));
      // The file was truncated meanwhile.
      if (read < piece.length) break;
    }
    const signature = signatureOf(before);
    const isChanged = signatureOf(fstatSync(descriptor, { bigint: true })) !== signature;
    return { signature: isSettled(before, openedMs) ? signature : undefined, isChanged };
  } finally {
    closeSync(descriptor);
  }
}

/** Opens a file with O_NONBLOCK, since a named pipe created by guest code would block otherwise. */
function openFile(file: string): number | undefined {
  try {
    return openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOENT" && code !== "ELOOP") throw error;
    return undefined;
  }
}

/** Reads a file's digests. @returns `undefined` if it is missing or not a file. */
export async function digestFile(file: string, salt: string): Promise<LocalFile | undefined> {
  const pieces: string[] = [];
  let size = 0;
  const read = await readPieces(file, (piece) => {
    pieces.push(digestPiece(salt, piece));
    size += piece.length;
  });
  return read && { size, pieces, signature: read.signature };
}

export function signatureOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(".");
}

/** Whether a later change would be visible in the file's change time, which code in the sandbox can't set. */
export function isSettled({ ctimeMs }: BigIntStats, atMs: number): boolean {
  return Number(ctimeMs) < atMs - UNSURE_MS;
}
