import { readdir, rm, rmdir } from "node:fs/promises";
import path from "node:path";
import { replaceFile } from "@cem/core/files";
import { planServerFiles, type ServerFilesPlan, type ServerFilesRequest } from "./plan-server-files.ts";
import { openServerFolder, readServerFolder, withFolderLock, type FileOrigin } from "./server-folder.ts";
import { invalidLock, LOCK_FILE, parseLock } from "./server-lock.ts";

/** Everyone who may read the folder may read the tools: the code may run as another user. */
const SHARED_FILE = 0o644;

/** The folder of a server. */
export interface ServerFolder {
  /** The parent folder of all servers' folders. Created if it does not exist. */
  serversDir: string;
  /** The name of the server's folder in it; see `nameServerFolders`. */
  folder: string;
  /** Cancels the operation between two files. */
  signal?: AbortSignal | undefined;
}

/** The input of {@link writeServerFiles}. */
export type WriteServerFilesRequest = ServerFolder &
  Omit<ServerFilesRequest, "previous" | "occupied" | "edited">;

/** The result of {@link writeServerFiles}. Files are given by name. */
export interface WrittenServerFiles extends Omit<ServerFilesPlan, "files"> {
  /** The absolute path of the server's folder. */
  directory: string;
  /** Files that were created or changed. */
  written: string[];
  /** Generated files that were removed because the server no longer has the tool. */
  removed: string[];
  /** Number of files that were up to date. */
  unchanged: number;
}

/**
 * Generates and writes the files of a server. Files are replaced atomically and only if they changed; those of tools
 * that the server no longer has are removed. Files that were not generated, or were edited since, are not touched;
 * edited ones stay in the index. Links are not followed. Processes that write the same folder take turns.
 *
 * @throws CemError `TOOL_FILES_UNSAFE_FOLDER`, `TOOL_FILES_BUSY`, `TOOL_LOCK_INVALID`.
 */
export async function writeServerFiles(wanted: WriteServerFilesRequest): Promise<WrittenServerFiles> {
  const { serversDir, folder, signal, ...rest } = wanted;
  const directory = await openServerFolder(serversDir, folder);
  return withFolderLock(directory, signal, async () => {
    const present = await readServerFolder(directory);
    const place = path.join(directory, LOCK_FILE);
    const locked = present.get(LOCK_FILE)?.text;
    if (locked === "") throw invalidLock(place, "it is empty or not a regular file");
    const previous = locked === undefined ? undefined : parseLock(locked, place);
    const modules = [...present].filter(([file]) => file.endsWith(".ts"));
    const namesOf = (kind: FileOrigin): string[] =>
      modules.filter(([, { origin }]) => origin === kind).map(([file]) => file);
    const request = { ...rest, previous, occupied: namesOf("foreign"), edited: namesOf("edited") };
    const { files, ...plan } = planServerFiles(request);

    const written: string[] = [];
    for (const [file, text] of files) {
      signal?.throwIfAborted();
      if (present.get(file)?.text === text) continue;
      await replaceFile(path.join(directory, file), text, { mode: SHARED_FILE });
      written.push(file);
    }
    const stale = modules.filter(([file, { origin }]) => origin === "generated" && !files.has(file));
    const removed = stale.map(([file]) => file);
    for (const file of removed) await rm(path.join(directory, file));
    return { ...plan, directory, written, removed, unchanged: files.size - written.length };
  });
}

/**
 * Removes the generated files of a server, and its folder if it is then empty.
 *
 * @returns the names of the files removed.
 */
export async function removeServerFiles({ serversDir, folder, signal }: ServerFolder): Promise<string[]> {
  const directory = await openServerFolder(serversDir, folder);
  const removed = await withFolderLock(directory, signal, async () => {
    const present = [...(await readServerFolder(directory))];
    const ours = present.filter(([file, { origin }]) => origin === "generated" || file === LOCK_FILE);
    for (const [file] of ours) await rm(path.join(directory, file));
    return ours.map(([file]) => file);
  });
  const left = await readdir(directory);
  if (left.length === 0) await rmdir(directory);
  return removed;
}
