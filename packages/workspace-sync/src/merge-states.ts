import { encodeState, mergeChanges, parseState } from "@cem/workspace";
import type { JsonValue } from "@cem/core";
import { filesDamaged } from "./errors.ts";
import { digestPiece, PIECE_BYTES } from "./file-entry.ts";
import type { FileEntry } from "./file-entry.ts";
import type { LocalFile } from "./file-content.ts";
import type { LocalFolders } from "./local-files.ts";
import { isConflict } from "./reconcile.ts";
import type { Sides } from "./reconcile.ts";
import type { SharedCopy } from "./shared-copy.ts";

const MAX_MERGED_BYTES = 4 * 1024 * 1024;
const MERGED = /^workspace\/(?!sessions\/).*\.json$/;

/** A state file that both sides changed, with both changes in it. */
export interface MergedState {
  path: string;
  /** As it is on this machine now. */
  file: LocalFile;
}

/** Where the two sides are. */
export interface MergePlaces {
  local: LocalFolders;
  shared: SharedCopy;
  salt: string;
}

/** Merges the JSON files of which both sides changed different keys, and writes them on this machine. */
export async function mergeStates(sides: Sides, places: MergePlaces): Promise<MergedState[]> {
  const merged: MergedState[] = [];
  for (const [path, mine] of sides.local) {
    const theirs = sides.remote.get(path);
    if (theirs === undefined || !MERGED.test(path) || !isConflict(path, sides)) continue;
    const base = sides.base.get(path);
    if ([mine, theirs, base].some((one) => (one?.size ?? 0) > MAX_MERGED_BYTES)) continue;
    const bytes = await merge({ path, base, theirs }, places);
    if (bytes === undefined) continue;
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) pieces.push(bytes.subarray(at, at + PIECE_BYTES));
    const signature = await places.local.write(path, pieces, mine);
    const digests = pieces.map((piece) => digestPiece(places.salt, piece));
    merged.push({ path, file: { size: bytes.length, pieces: digests, signature } });
  }
  return merged;
}

/** @returns `undefined` where they can't be merged. */
async function merge(
  { path, base, theirs }: { path: string; base: FileEntry | undefined; theirs: FileEntry },
  { local, shared, salt }: MergePlaces,
): Promise<Uint8Array | undefined> {
  const before =
    base === undefined ? {} : await stateOf(sharedPieces(base, shared, salt)).catch(() => undefined);
  const pieces: Buffer[] = [];
  await local.read(path, (piece) => void pieces.push(piece));
  const [mine, other] = [await stateOf(pieces), await stateOf(sharedPieces(theirs, shared, salt))];
  if (before === undefined || mine === undefined || other === undefined) return undefined;
  const merged = mergeChanges(before, mine, other);
  return merged.ok ? encodeState(merged.value, "json") : undefined;
}

/** The content of a shared file, piece by piece. */
export async function* sharedPieces(
  { size, pieces }: FileEntry,
  shared: SharedCopy,
  salt: string,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  for (const name of pieces) {
    const piece = await shared.readPiece(name, salt);
    read += piece.length;
    yield piece;
  }
  if (read !== size) throw filesDamaged(shared.blobs.location, `a file has ${read} bytes instead of ${size}`);
}

async function stateOf(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<JsonValue | undefined> {
  const read: Uint8Array[] = [];
  for await (const piece of pieces) read.push(piece);
  const parsed = await parseState(Buffer.concat(read), "json");
  return parsed.ok ? parsed.value : undefined;
}
