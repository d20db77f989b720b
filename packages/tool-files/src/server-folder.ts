import { CemError } from "@cem/core";
import { isTemporaryFile } from "@cem/core/files";
import { constants } from "node:fs";
import { lstat, mkdir, open, readdir, realpath, rm } from "node:fs/promises";
import path from "node:path";
import { type FileOrigin, originOf } from "./generated-mark.ts";

/** A larger file was not generated. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A file in a server's folder. */
export interface PresentFile {
  origin: FileOrigin;
  /** The content; empty for anything but a regular file. */
  text: string;
}

/**
 * Creates a server's folder if it does not exist.
 *
 * @returns its absolute path, with links in the path of `serversDir` resolved.
 * @throws CemError `TOOL_FILES_UNSAFE_FOLDER` when it is a link or a file, or not directly in `serversDir`.
 */
export async function openServerFolder(serversDir: string, folder: string): Promise<string> {
  await mkdir(serversDir, { recursive: true });
  const parent = await realpath(serversDir);
  const directory = path.join(parent, folder);
  if (path.dirname(directory) !== parent || folder.includes("\0")) {
    throw unsafe(directory, `${JSON.stringify(folder)} is not the name of a folder in ${parent}`);
  }
  await mkdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const status = await lstat(directory);
  if (!status.isDirectory()) throw unsafe(directory, "it is a link or a file");
  return directory;
}

/**
 * Reads the TypeScript and JSON files of a folder, by name, and removes temporary files of an interrupted write. Links
 * are not followed and count as foreign files.
 */
export async function readServerFolder(directory: string): Promise<Map<string, PresentFile>> {
  const files = new Map<string, PresentFile>();
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const file = path.join(directory, entry.name);
    if (isTemporaryFile(entry.name)) await rm(file, { force: true });
    else if (/\.(?:ts|json)$/i.test(entry.name)) {
      const text = entry.isFile() ? await readRegularFile(file) : "";
      files.set(entry.name, { origin: originOf(text), text });
    }
  }
  return files;
}

/** Names of the TypeScript files in a folder that were not generated. None for a folder that does not exist. */
export async function listForeignModules(directory: string): Promise<string[]> {
  const files = await readServerFolder(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return new Map<string, PresentFile>();
    throw error;
  });
  const foreign = [...files].filter(([name, { origin }]) => /\.ts$/i.test(name) && origin === "foreign");
  return foreign.map(([name]) => name);
}

/** Reads a regular file without following links. Empty for anything else, and for a file that is too large. */
export async function readRegularFile(file: string): Promise<string> {
  const handle = await open(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const status = await handle.stat();
    return status.isFile() && status.size <= MAX_FILE_BYTES ? await handle.readFile("utf8") : "";
  } finally {
    await handle.close();
  }
}

function unsafe(directory: string, reason: string): CemError {
  return new CemError("TOOL_FILES_UNSAFE_FOLDER", `The folder ${directory} can't be used: ${reason}.`, {
    details: { directory, reason },
  });
}
