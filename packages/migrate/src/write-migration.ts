import { lstat, mkdir, realpath, writeFile } from "node:fs/promises";
import path from "node:path";
import type { MigratedFile, Migration } from "./migration.ts";
import { isInside } from "./read-folder.ts";

/** Secrets may stand in a configuration. */
const PRIVATE_FILE = 0o600;

/**
 * Writes the files of a migration. What is there stays as it is, and nothing is written through a link out of the project.
 *
 * @returns the files that were made.
 * @throws the file system's error.
 */
export async function writeMigration({ folder, files }: Migration): Promise<MigratedFile[]> {
  const made: MigratedFile[] = [];
  for (const file of files) if (!file.isThere && (await make(folder, file))) made.push(file);
  return made;
}

async function make(project: string, { file, text, before }: MigratedFile): Promise<boolean> {
  const target = path.join(project, file);
  const folder = path.dirname(target);
  const [root, parent] = await Promise.all([
    realpath(project),
    nearestExisting(folder).then((one) => realpath(one)),
  ]);
  if (parent !== root && !isInside(root, parent)) return false;
  await mkdir(folder, { recursive: true });
  try {
    await writeFile(target, text, { flag: "wx", mode: before === undefined ? undefined : PRIVATE_FILE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function nearestExisting(folder: string): Promise<string> {
  const isThere = await lstat(folder).then(
    () => true,
    () => false,
  );
  return isThere ? folder : nearestExisting(path.dirname(folder));
}
