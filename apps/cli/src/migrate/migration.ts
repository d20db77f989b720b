import path from "node:path";
import { lstat, mkdir, readFile, readdir, realpath, writeFile } from "node:fs/promises";
import { createTwoFilesPatch } from "diff";

/** A file that a migration makes. */
export interface MigratedFile {
  /** Relative to the project, with `/`. */
  file: string;
  /** The file of the Python original that it comes from, relative to the project. */
  from: string;
  text: string;
  /** The text of `from`, where the new file is a changed copy of it. */
  before?: string | undefined;
  /** Whether there is such a file already, which stays as it is. */
  isThere: boolean;
}

/** Work that is left to a person. */
export interface LeftOver {
  /** Relative to the project, with `:` and a line where one is known. */
  place: string;
  reason: string;
}

/** Functions in Python that only call an MCP server. */
export interface CalledServer {
  name: string;
  tools: string[];
  /** Whether the configuration has it. */
  isConfigured: boolean;
}

/** The plan of moving a project over. */
export interface Migration {
  /** Absolute path of the project. */
  folder: string;
  /** Whether anything of the Python original was found. */
  isProject: boolean;
  files: MigratedFile[];
  /** Changes to the configuration, in the new file. */
  changes: string[];
  /** Parts that work as they are. */
  works: string[];
  left: LeftOver[];
  servers: CalledServer[];
}

/** A key that may hold a secret. */
const SECRET_KEY = /key|token|secret|password|authorization/iu;

/** Renders the changes of a migrated file as a unified diff, without secrets of a configuration. */
export function diffOf({ file, from, text, before }: MigratedFile): string {
  const source = before === undefined ? "/dev/null" : from;
  const patch = createTwoFilesPatch(source, file, before ?? "", text, "", "", { context: 2 });
  const shown = patch.replace(/^=+\n/u, "").trimEnd();
  return before === undefined ? shown : shown.split("\n").map(withoutSecret).join("\n");
}

function withoutSecret(line: string): string {
  const at = line.indexOf(":");
  const isSet = at !== -1 && line.slice(at + 1).trim() !== "";
  return isSet && SECRET_KEY.test(line.slice(0, at)) ? `${line.slice(0, at)}: [secret]` : line;
}

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
