import { readdirSync, type Dirent } from "node:fs";
import { realpath, stat } from "node:fs/promises";
import path from "node:path";
import type { ToolProblem } from "@cem/core";
import { mapInParallel } from "./map-in-parallel.ts";

/** A folder that may hold tools. */
export interface ToolFolder {
  name: string;
  /** Absolute path. */
  folder: string;
  /** Names of the source files in it that count, sorted. */
  files: string[];
  /** index.ts or its like, where there is one. */
  index?: string | undefined;
  /** SKILL.md or README.md, where there is one. */
  readme?: string | undefined;
}

export interface ScannedFolders {
  folders: ToolFolder[];
  problems: ToolProblem[];
}

const SOURCE_EXTENSIONS = [".ts", ".mts", ".js", ".mjs"];
const INDEX_FILES = SOURCE_EXTENSIONS.map((extension) => `index${extension}`);
const README_FILES = ["SKILL.md", "README.md", "readme.md"];

/** What can stand in an import without being escaped. */
const FOLDER_NAME = /^[\p{L}\p{N}][\p{L}\p{N}_.@-]*$/u;

/** Whether a file or folder is nobody's tool: hidden, private, vendored, a test, types only, or run elsewhere. */
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

/** Lists the folders right under a root, and their source files. A root that does not exist has none. */
export async function scanFolders(
  root: string,
  concurrency: number,
  signal?: AbortSignal,
): Promise<ScannedFolders> {
  const problems: ToolProblem[] = [];
  let entries: Dirent[] = [];
  try {
    entries = list(root);
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === "ENOENT";
    if (!isMissing)
      problems.push({ server: "", file: root, message: `can't be listed: ${messageOf(error)}` });
  }
  const scanned = await mapInParallel(
    entries.filter(({ name }) => !isSkipped(name)),
    concurrency,
    async (entry) => {
      try {
        return await scanFolder(root, entry);
      } catch (error) {
        problems.push({ server: entry.name, file: path.join(root, entry.name), message: messageOf(error) });
        return undefined;
      }
    },
    signal,
  );
  return { folders: scanned.filter((folder) => folder !== undefined), problems };
}

async function scanFolder(root: string, entry: Dirent): Promise<ToolFolder | undefined> {
  const folder = path.join(root, entry.name);
  if (entry.isSymbolicLink()) {
    const [target, real] = await Promise.all([realpath(folder), realpath(root)]);
    if (!(await stat(target)).isDirectory()) return undefined;
    const way = path.relative(real, target);
    if (way === "" || way.startsWith("..") || path.isAbsolute(way))
      throw new Error("is a link that leads out of its folder, which no sandbox follows");
  } else if (!entry.isDirectory()) {
    return undefined;
  }
  if (!FOLDER_NAME.test(entry.name))
    throw new Error("has a name that can't stand in an import. Use letters, digits, _, - and .");
  const names = list(folder).map(({ name }) => name);
  const files = names.filter((name) => isSource(name) && !isSkipped(name));
  const index = INDEX_FILES.find((name) => files.includes(name));
  const readme = README_FILES.find((name) => names.includes(name));
  if (files.length === 0 && readme !== "SKILL.md") return undefined;
  return {
    name: entry.name,
    folder,
    files,
    ...(index === undefined ? {} : { index }),
    ...(readme === undefined ? {} : { readme }),
  };
}

/** Sorted, so that a catalog is the same on every file system. */
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
