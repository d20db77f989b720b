import { createHmac, randomBytes } from "node:crypto";

/** Files are kept in pieces of at most this size, so that what is added to a long one does not send all of it again. */
export const PIECE_BYTES = 1024 * 1024;

const NONCE_BYTES = 9;
const PIECE_NAME = /^[\w-]{43}\.[\w-]{12}$/;

/** A file's content: its size, and the pieces that it is kept in. */
export interface FileEntry {
  size: number;
  /** Of a local file their digests, of a shared one their names. */
  pieces: readonly string[];
}

/** Files by their paths: `workspace/state.json`. */
export type Files = ReadonlyMap<string, FileEntry>;

/** The digest of a piece, which nobody can guess from its content without the salt. */
export function digestPiece(salt: string, bytes: Uint8Array): string {
  return createHmac("sha256", salt).update(bytes).digest("base64url");
}

/**
 * A new name for a piece. It is not used again once it is gone, so that removing what nobody names takes nothing from who
 * writes the same content meanwhile.
 */
export function namePiece(digest: string): string {
  return `${digest}.${randomBytes(NONCE_BYTES).toString("base64url")}`;
}

/** The digest of a piece by its name. */
export function digestOf(name: string): string {
  return name.split(".", 1)[0] ?? "";
}

export function isPieceName(name: unknown): name is string {
  return typeof name === "string" && PIECE_NAME.test(name);
}

/** Whether two entries have the same content. `undefined` is no file. */
export function isSame(one: FileEntry | undefined, other: FileEntry | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.size === other.size &&
    one.pieces.length === other.pieces.length &&
    one.pieces.every((piece, at) => digestOf(piece) === digestOf(other.pieces[at] ?? ""))
  );
}
