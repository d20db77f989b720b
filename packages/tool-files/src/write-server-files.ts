import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { withFolderLock } from "./folder-lock.ts";
import { OBSERVED_FILE } from "./observed-results.ts";
import { planServerFiles, type ServerFilesPlan, type ServerFilesRequest } from "./plan-server-files.ts";
import { openServerFolder, type PresentFile, readServerFolder, writeWhole } from "./server-folder.ts";
import { invalidLock, LOCK_FILE, parseLock, type ServerLock } from "./server-lock.ts";

const OWN_DATA: ReadonlySet<string> = new Set([LOCK_FILE, OBSERVED_FILE]);

/** Which folder is meant. */
export interface ServerFolder {
  /** The folder that holds a folder for each server. Made if it is not there. */
  serversDir: string;
  /** The server's folder in it, see `nameServerFolders`. */
  folder: string;
  signal?: AbortSignal | undefined;
}

export type WriteServerFilesRequest = ServerFolder & Omit<ServerFilesRequest, "previous" | "occupied">;

/** What became of a server's files, by name. */
export interface WrittenServerFiles extends Omit<ServerFilesPlan, "files"> {
  /** The server's folder, absolute. */
  directory: string;
  /** Files that are new or have new content. */
  written: string[];
  /** Generated files whose tool is gone. */
  removed: string[];
  /** How many files were right already. */
  unchanged: number;
}

/**
 * Writes the files of one server: each one whole or not at all, only those that change, and removes those whose tool
 * is gone. What people wrote or edited is never touched, and no link is followed. Two processes take turns.
 *
 * @throws CemError `TOOL_FILES_UNSAFE_FOLDER`, `TOOL_FILES_BUSY`, `TOOL_LOCK_INVALID`.
 */
export async function writeServerFiles(request: WriteServerFilesRequest): Promise<WrittenServerFiles> {
  const { serversDir, folder, signal, ...rest } = request;
  const directory = await openServerFolder(serversDir, folder);
  return withFolderLock(directory, signal, async () => {
    const present = await readServerFolder(directory);
    const previous = presentLock(directory, present.get(LOCK_FILE));
    const modules = [...present].filter(([file]) => file.endsWith(".ts"));
    const occupied = modules.filter(([, { origin }]) => origin !== "generated").map(([file]) => file);
    const { files, ...plan } = planServerFiles({ ...rest, previous, occupied });

    const written: string[] = [];
    for (const [file, text] of files) {
      signal?.throwIfAborted();
      if (present.get(file)?.text === text) continue;
      await writeWhole(directory, file, text);
      written.push(file);
    }
    const stale = modules.filter(([file, { origin }]) => origin === "generated" && !files.has(file));
    const removed = stale.map(([file]) => file);
    for (const file of removed) await rm(path.join(directory, file));
    return { ...plan, directory, written, removed, unchanged: files.size - written.length };
  });
}

/**
 * Removes what was generated for a server, and its folder if nothing else is in it.
 *
 * @returns the names of the files removed.
 */
export async function removeServerFiles({ serversDir, folder, signal }: ServerFolder): Promise<string[]> {
  const directory = await openServerFolder(serversDir, folder);
  const removed = await withFolderLock(directory, signal, async () => {
    const present = [...(await readServerFolder(directory))];
    const ours = present.filter(([file, { origin }]) => origin === "generated" || OWN_DATA.has(file));
    for (const [file] of ours) await rm(path.join(directory, file));
    return ours.map(([file]) => file);
  });
  const left = await readdir(directory);
  if (left.length === 0) await rmdir(directory);
  return removed;
}

function presentLock(directory: string, file: PresentFile | undefined): ServerLock | undefined {
  if (file === undefined) return undefined;
  const place = path.join(directory, LOCK_FILE);
  if (file.text === "") throw invalidLock(place, "it is empty or no regular file");
  return parseLock(file.text, place);
}
