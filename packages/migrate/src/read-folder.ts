import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";

/** A larger file is no tool. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The names in a folder, sorted; none where there is no folder. Links are left out. */
export async function namesIn(folder: string, kind: "file" | "folder"): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
  return entries
    .filter((entry) => (kind === "file" ? entry.isFile() : entry.isDirectory()))
    .map(({ name }) => name)
    .toSorted();
}

/** The text of a small regular file; `undefined` where there is none. */
export async function textOf(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return undefined;
  return readFile(file, "utf8");
}

/** Whether a module in Python is one of tools or skills, and not a package's index, private or a test. */
export function isPublicModule(name: string): boolean {
  return name.endsWith(".py") && !/^(?:[._]|test_|conftest\.py$|setup\.py$)|_test\.py$/u.test(name);
}

/** Whether a path is in a folder. */
export function isInside(folder: string, file: string): boolean {
  const relative = path.relative(folder, file);
  return relative !== "" && !relative.startsWith("..") && !path.isAbsolute(relative);
}
