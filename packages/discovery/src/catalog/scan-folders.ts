import { readdirSync, realpathSync, statSync, type Dirent } from "node:fs";
import path from "node:path";
import type { ToolProblem } from "@cem/core";

export interface ToolFolder {
  name: string;
  folder: string;
  /** Names of the source files in it that are not skipped, sorted; with those in `scripts/` of a skill without an index. */
  files: string[];
  index?: string | undefined;
  readme?: string | undefined;
  /** For a skill without source files: its files in other languages, which no sandbox runs. */
  foreign: string[];
}

export type KnownFolders = Map<
  string,
  { stamp: string; found: ToolFolder | undefined; python: readonly string[] }
>;

/** A folder that changed within this time is listed again: it may change once more within a tick of its clock. */
const SETTLED_MS = 2_000;
const SOURCE_EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];
const INDEX_FILES = SOURCE_EXTENSIONS.map((extension) => `index${extension}`);
/** Programs in languages that no sandbox here runs. */
const FOREIGN_FILE = /\.(?:py|sh|bash|rb|go|rs|php|ps1|pl|r|jl)$/;
/** The folder with the code of a skill, in the open format. */
export const SCRIPTS = "scripts";
const README_FILES = ["SKILL.md", "README.md", "readme.md"];

/** Names that need no escaping in an import. */
const FOLDER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]*$/u;

/** Whether a file or folder is never a tool: hidden, private, vendored, a test, types only, or run on the host. */
export function isSkipped(name: string): boolean {
  return (
    /^[._]/.test(name) ||
    name === "node_modules" ||
    name === "vendor" ||
    /\.(?:test|spec|d|host)\.m?[jt]s$/.test(name)
  );
}

export function isSource(name: string): boolean {
  return SOURCE_EXTENSIONS.includes(path.extname(name));
}

/** Lists the folders under a root, and their source files; those of earlier scans only if they have changed. */
export function scanFolders(root: string, known: KnownFolders) {
  const problems: ToolProblem[] = [];
  const python: string[] = [];
  let entries: Dirent[] = [];
  try {
    entries = list(root);
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === "ENOENT";
    if (!isMissing)
      problems.push({ server: "", file: root, message: `can't be listed: ${messageOf(error)}` });
  }
  const folders: ToolFolder[] = [];
  for (const entry of entries.filter(({ name }) => !isSkipped(name))) {
    try {
      const found = entry.isDirectory()
        ? scanKnown(root, entry, { known, python })
        : scanLink(root, entry, python);
      if (found !== undefined) folders.push(found);
    } catch (error) {
      problems.push({ server: entry.name, file: path.join(root, entry.name), message: messageOf(error) });
    }
  }
  const names = new Set(entries.map(({ name }) => name));
  python.push(...pythonWithoutCounterpart(names));
  const loose = entries.filter((entry) => entry.isFile() && isSource(entry.name) && !isSkipped(entry.name));
  return { folders, loose: loose.map(({ name }) => name), python: python.toSorted(), problems };
}

function scanKnown(
  root: string,
  entry: Dirent,
  { known, python }: { known: KnownFolders; python: string[] },
) {
  const folder = path.join(root, entry.name);
  const { ino, mtimeMs, ctimeMs } = statSync(folder);
  const stamp = `${ino} ${mtimeMs} ${ctimeMs}`;
  let scanned = known.get(folder);
  if (scanned?.stamp !== stamp) {
    const own: string[] = [];
    scanned = { stamp, found: scanFolder(root, entry, own), python: own };
    known.delete(folder);
    // Files of a skill may be in a subfolder.
    const isWhole = scanned.found?.readme !== "SKILL.md";
    if (isWhole && Date.now() - ctimeMs > SETTLED_MS) known.set(folder, scanned);
  }
  python.push(...scanned.python);
  return scanned.found;
}

function scanLink(root: string, entry: Dirent, python: string[]): ToolFolder | undefined {
  if (!entry.isSymbolicLink()) return undefined;
  const folder = path.join(root, entry.name);
  const target = realpathSync(folder);
  if (!statSync(target).isDirectory()) return undefined;
  const relativePath = path.relative(realpathSync(root), target);
  if (relativePath === "" || relativePath.startsWith("..") || path.isAbsolute(relativePath))
    throw new Error("is a link that leads out of its folder, which no sandbox follows");
  return scanFolder(root, entry, python);
}

function scanFolder(root: string, entry: Dirent, python: string[]): ToolFolder | undefined {
  const folder = path.join(root, entry.name);
  if (!FOLDER_NAME.test(entry.name))
    throw new Error("has a name that can't stand in an import. Use letters, digits, _, - and .");
  const names = list(folder).map(({ name }) => name);
  python.push(...pythonWithoutCounterpart(new Set(names)).map((name) => `${entry.name}/${name}`));
  const files = names.filter((name) => isSource(name) && !isSkipped(name));
  const index = INDEX_FILES.find((name) => files.includes(name));
  const readme = README_FILES.find((name) => names.includes(name));
  const isSkill = readme === "SKILL.md";
  if (files.length === 0 && !isSkill) return undefined;
  const scripts = isSkill && names.includes(SCRIPTS) ? listScripts(folder) : [];
  const sources = scripts.filter((name) => isSource(name) && !isSkipped(path.basename(name)));
  const all = index === undefined ? [...files, ...sources] : files;
  const foreign =
    isSkill && all.length === 0 ? [...names, ...scripts].filter((name) => FOREIGN_FILE.test(name)) : [];
  return { name: entry.name, folder, files: all, index, readme, foreign };
}

/** Python modules without a source file or a folder of the same name. */
function pythonWithoutCounterpart(names: ReadonlySet<string>): string[] {
  const isPublic = (name: string): boolean =>
    name.endsWith(".py") && !/^(?:[._]|test_|conftest\.py$|setup\.py$)|_test\.py$/u.test(name);
  return [...names].filter(isPublic).filter((name) => {
    const stem = name.slice(0, -".py".length);
    return ["", ...SOURCE_EXTENSIONS].every((extension) => !names.has(`${stem}${extension}`));
  });
}

/** Lists the files in `scripts/`, where skills written for other programs keep their code. */
function listScripts(folder: string): string[] {
  return list(path.join(folder, SCRIPTS))
    .filter((entry) => entry.isFile())
    .map(({ name }) => `${SCRIPTS}/${name}`);
}

/** Lists a folder, sorted, so that a catalog is the same on every file system. */
function list(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function messageOf(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: string | undefined };
  if (code === "ELOOP") return "is a link that leads back to itself";
  if (code === "ENOENT") return "is a link to something that does not exist";
  if (code === "EACCES" || code === "EPERM") return "can't be read: permission was denied";
  return message ?? String(error);
}
