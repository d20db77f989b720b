import pMap from "p-map";
import { isSame } from "./file-entry.ts";
import type { FileEntry, Files } from "./file-entry.ts";
import type { LocalFiles } from "./file-content.ts";
import type { LocalFolders } from "./local-files.ts";
import { sharedPieces } from "./merge-states.ts";
import type { Reconciled } from "./reconcile.ts";
import type { SharedCopy } from "./shared-copy.ts";

const FILES_AT_ONCE = 8;

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
  await pMap(
    fetched,
    async ([path, { path: old }]) => {
      // Who begins again must not meet a file that is still being written: so those under way are waited for.
      if (failure !== undefined) return;
      const entry = remote.get(old) as FileEntry;
      try {
        const signature = await local.write(path, sharedPieces(entry, shared, salt), files.get(path));
        files.set(path, { ...entry, signature });
      } catch (error) {
        failure ??= { error };
      }
    },
    { concurrency: FILES_AT_ONCE },
  );
  if (failure !== undefined) throw failure.error;
  return fetched.length > 0;
}
