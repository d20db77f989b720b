import { mkdirSync, statSync } from "node:fs";
import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Makes a folder and those above it; true when it was not there. Node's own `recursive` never returns where the
 * file system says that nothing can be made, as under /proc.
 *
 * @param mode - The mode of the folders that are made.
 * @throws the file system's error; `EEXIST` or `ENOTDIR` when a file is in the way.
 */
export async function makeFolder(folder: string, mode?: number): Promise<boolean> {
  if (await isFolder(folder)) return false;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeFolder(parent, mode);
  try {
    await mkdir(folder, { mode });
    return true;
  } catch (error) {
    // Another process may have made it meanwhile.
    if (await isFolder(folder)) return false;
    throw error;
  }
}

async function isFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** {@link makeFolder} for what can't wait. */
export function makeFolderSync(folder: string, mode?: number): void {
  if (isFolderSync(folder)) return;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolderSync(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!isFolderSync(folder)) throw error;
  }
}

function isFolderSync(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}
