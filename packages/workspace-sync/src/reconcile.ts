import { isSame } from "./file-entry.ts";
import type { FileEntry, Files } from "./file-entry.ts";
import { foldersOf, nameBeside } from "./file-path.ts";

/** The three states of the files: what both sides had last, what is here, and what is shared. */
export interface Sides {
  base: Files;
  local: Files;
  remote: Files;
}

/** Where a file's content comes from: the side, and its path there. */
export interface Source {
  from: "local" | "remote";
  path: string;
}

/** What the files are to be, and the paths that both sides changed. */
export interface Reconciled {
  files: Map<string, Source>;
  /** Changed differently by both: the shared one keeps its path, the local one stands beside. */
  conflicts: { path: string; beside: string }[];
  /** Deleted by one side and changed by the other: the change is kept. */
  revived: string[];
}

/** A second name of a file, which is there under its own name, too. */
const SECOND_NAME = /(?:^|\/)sessions\/current_session\.json$/;

/** Whether both sides changed a path, and not to the same. */
export function isConflict(path: string, { base, local, remote }: Sides): boolean {
  const [before, mine, theirs] = [base.get(path), local.get(path), remote.get(path)];
  return !isSame(mine, theirs) && !isSame(before, mine) && !isSame(before, theirs);
}

/** Puts the changes of both sides together, file by file, so that nothing that either wrote is lost. */
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
  // Put there before, by a process that was killed right after.
  files.set(
    beside,
    isSame(remote.get(beside), mine) ? { from: "remote", path: beside } : { from: "local", path },
  );
}

/** Where one side has a file and the other a folder of the same name, the file goes beside. */
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
