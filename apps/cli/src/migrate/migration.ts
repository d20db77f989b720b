import path from "node:path";
import { lstat, readFile, readdir, writeFile } from "node:fs/promises";
import { ignoreMissing, PRIVATE_FILE } from "@cem/core/files";
import { createTwoFilesPatch } from "diff";

/** A configuration that a migration writes: a changed copy of the existing one. */
export interface MigratedFile {
  /** Its name in the project. */
  file: string;
  /** The name of the file of the Python original. */
  from: string;
  text: string;
  /** The text of `from`. */
  before: string;
  /** Whether such a file already exists, which is then not changed. */
  isThere: boolean;
}

/** Work left to a person. */
export interface LeftOver {
  /** Relative to the project, with `:` and a line if known. */
  place: string;
  reason: string;
}

export interface Migration {
  /** Absolute path of the project. */
  folder: string;
  /** Whether anything of the Python original was found. */
  isProject: boolean;
  /** Absent if the configuration loads unchanged. */
  config?: MigratedFile | undefined;
  /** Changes to the configuration, in the new file. */
  changes: string[];
  /** Parts that work unchanged. */
  works: string[];
  left: LeftOver[];
}

/** A key that may hold a secret. */
const SECRET_KEY = /key|token|secret|password|authorization/iu;

/** Renders the changes of a migrated configuration as a unified diff, without its secrets. */
export function diffOf({ file, from, text, before }: MigratedFile): string {
  const patch = createTwoFilesPatch(from, file, before, text, "", "", { context: 2 });
  return patch.replace(/^=+\n/u, "").trimEnd().split("\n").map(withoutSecret).join("\n");
}

function withoutSecret(line: string): string {
  const at = line.indexOf(":");
  const isSet = at !== -1 && line.slice(at + 1).trim() !== "";
  return isSet && SECRET_KEY.test(line.slice(0, at)) ? `${line.slice(0, at)}: [secret]` : line;
}

/** @returns whether it was written: not if there is one. @throws the file system's error. */
export async function writeMigration({ folder, config }: Migration): Promise<boolean> {
  if (config === undefined || config.isThere) return false;
  try {
    // It may contain secrets.
    await writeFile(path.join(folder, config.file), config.text, { flag: "wx", mode: PRIVATE_FILE });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Larger files are not considered tools. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The names in a folder, sorted; none if the folder is missing. Links are left out. */
export async function namesIn(folder: string, kind: "file" | "folder"): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(ignoreMissing);
  return (entries ?? [])
    .filter((entry) => (kind === "file" ? entry.isFile() : entry.isDirectory()))
    .map(({ name }) => name)
    .toSorted();
}

/** The text of a small regular file; `undefined` if there is none. */
export async function textOf(file: string): Promise<string | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (found?.isFile() !== true || found.size > MAX_FILE_BYTES) return undefined;
  return readFile(file, "utf8");
}
