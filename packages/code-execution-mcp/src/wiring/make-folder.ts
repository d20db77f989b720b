import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Makes a folder and those above it; true when it was not there. Node's own `recursive` never returns where the
 * file system says that nothing can be made, as under /proc.
 *
 * @throws the file system's error; `EEXIST` or `ENOTDIR` when a file is in the way.
 */
export async function makeFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  if (found?.isDirectory() === true) return false;
  const parent = path.dirname(folder);
  if (parent !== folder) await makeFolder(parent);
  await mkdir(folder);
  return true;
}
