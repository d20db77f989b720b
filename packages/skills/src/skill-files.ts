import { lstat, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { CemError } from "@cem/core";

const MAX_FILES = 512;
const MAX_BYTES = 16 * 1024 * 1024;

/** The paths of the plain files below a folder, sorted. Links, and names that begin with a dot, are left out. */
async function plainFiles(folder: string, below = ""): Promise<string[]> {
  const entries = await readdir(path.join(folder, below), { withFileTypes: true });
  const found = entries
    .filter(({ name }) => !name.startsWith("."))
    .map(async (entry) => {
      const file = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) return plainFiles(folder, file);
      return entry.isFile() ? [file] : [];
    });
  return (await Promise.all(found)).flat().toSorted();
}

/**
 * Reads the files of a skill's folder.
 *
 * @throws CemError `SKILL_INVALID` for more files or bytes than a skill has.
 */
export async function readSkillFiles(name: string, folder: string): Promise<Record<string, Uint8Array>> {
  const files = await plainFiles(folder);
  const sizes = await Promise.all(files.map(async (file) => (await lstat(path.join(folder, file))).size));
  requireSkillSize(
    name,
    files.length,
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const read = files.map(async (file) => [file, await readFile(path.join(folder, file))] as const);
  return Object.fromEntries(await Promise.all(read));
}

/** @throws CemError `SKILL_INVALID` */
export function requireSkillSize(name: string, files: number, bytes: number): void {
  if (files <= MAX_FILES && bytes <= MAX_BYTES) return;
  throw new CemError(
    "SKILL_INVALID",
    `The skill has ${files} files and ${bytes} bytes; ${MAX_FILES} files and ${MAX_BYTES} bytes are allowed.`,
    { details: { skill: name, files, bytes } },
  );
}
