import type { JsonValue } from "@cem/core";
import { encodeState, parseState } from "../state/state-format.ts";
import { mergeChanges } from "../state/state-merge.ts";
import { filesDamaged } from "./blobs.ts";
import { digestPiece, foldersOf, isSame, nameBeside, PIECE_BYTES } from "./file-content.ts";
import type { FileEntry, Files, LocalFile } from "./file-content.ts";
import type { LocalFolders } from "./local-folders.ts";
import type { SharedCopy } from "./shared-copy.ts";

const MAX_MERGED_BYTES = 4 * 1024 * 1024;
const MERGED = /^workspace\/(?!sessions\/).*\.json$/;

interface MergePlaces {
  local: LocalFolders;
  shared: SharedCopy;
  salt: string;
}

/** Merges JSON files in which both sides changed different keys, and writes them locally. @returns the merged files. */
export async function mergeStates(sides: Sides, places: MergePlaces) {
  const merged: { path: string; file: LocalFile }[] = [];
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

/** @returns `undefined` if they can't be merged. */
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

/** The three states of the files: the last common one, the local one, and the shared one. */
export interface Sides {
  base: Files;
  local: Files;
  remote: Files;
}

/** The merged files with their sources, and the paths that both sides changed. */
export interface Reconciled {
  /** The source of each file's content: the side, and its path there. */
  files: Map<string, { from: "local" | "remote"; path: string }>;
  /** Files that both changed differently: the shared one keeps its path, the local one is stored next to it. */
  conflicts: { path: string; beside: string }[];
  /** Files deleted by one side and changed by the other: the change is kept. */
  revived: string[];
}

/** A second name of a file that also exists under its own name. */
const SECOND_NAME = /(?:^|\/)sessions\/current_session\.json$/;

/** Whether both sides changed a path differently. */
function isConflict(path: string, { base, local, remote }: Sides): boolean {
  const [before, mine, theirs] = [base.get(path), local.get(path), remote.get(path)];
  return !isSame(mine, theirs) && !isSame(before, mine) && !isSame(before, theirs);
}

/** Merges the changes of both sides, file by file, so that nothing that either wrote is lost. */
export function reconcile(sides: Sides): Reconciled {
  const { base, local, remote } = sides;
  const result: Reconciled = { files: new Map(), conflicts: [], revived: [] };
  const { files } = result;
  for (const path of new Set([...local.keys(), ...remote.keys()])) {
    const [before, mine, theirs] = [base.get(path), local.get(path), remote.get(path)];
    if (isSame(mine, theirs) || isSame(before, mine)) {
      if (theirs !== undefined) files.set(path, { from: "remote", path });
    } else if (
      isSame(before, theirs) ||
      theirs === undefined ||
      (mine !== undefined && SECOND_NAME.test(path))
    ) {
      if (mine !== undefined) files.set(path, { from: "local", path });
      if (theirs === undefined && before !== undefined) result.revived.push(path);
    } else {
      files.set(path, { from: "remote", path });
      if (mine === undefined) result.revived.push(path);
      else setBeside(result, sides, { path, mine });
    }
  }
  untangle(result, sides);
  return result;
}

function setBeside(
  { files, conflicts }: Reconciled,
  { remote }: Sides,
  { path, mine }: { path: string; mine: FileEntry },
): void {
  const beside = nameBeside(path, mine.pieces[0] ?? "empty");
  conflicts.push({ path, beside });
  // Already written by a process that was killed right afterwards.
  files.set(
    beside,
    isSame(remote.get(beside), mine) ? { from: "remote", path: beside } : { from: "local", path },
  );
}

/** If one side has a file and the other a folder of the same name, the file is renamed. */
function untangle({ files, conflicts }: Reconciled, { local, remote }: Sides): void {
  const folders = new Set([...files.keys()].flatMap((path) => foldersOf(path)));
  for (const [path, source] of files) {
    if (!folders.has(path)) continue;
    const entry = (source.from === "local" ? local : remote).get(source.path);
    const beside = nameBeside(path, entry?.pieces[0] ?? "empty");
    files.delete(path);
    files.set(beside, source);
    conflicts.push({ path, beside });
  }
}
