import { createHash } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
} from "node:fs";
import { basename, dirname, extname, join, relative, resolve } from "node:path";
import { parseJson } from "@cem/core";
import { isWithin } from "@cem/core/files";

/** The real path of a place, also of one that does not exist yet. */
export function realPath(place: string): string {
  try {
    return realpathSync.native(place);
  } catch {
    const parent = dirname(place);
    return parent === place ? place : join(realPath(parent), basename(place));
  }
}

const MAX_FILE_BYTES = 16 * 1024 * 1024;
export const MAX_FILES = 2_000;
const CODE = new Set([".ts", ".mts", ".cts", ".tsx", ".js", ".mjs", ".cjs", ".jsx"]);
/** Possible paths of other modules, in code or elsewhere. */
const RELATIVE = /["'`](?<path>\.{1,2}\/[^"'`\n]{1,400})["'`]/gu;
const DATABASE = "SQLite format 3\0";
const ENDINGS = ["", ...CODE, ".json", ".node", "/index.ts", "/index.js"];

interface FollowOptions {
  /** Whether a file is digested. Default: those in the folder. */
  isWithin?: ((file: string) => boolean) | undefined;
  /** The real paths of further files that a file names in its code. */
  alsoNamed?: ((file: string, code: string) => readonly string[]) | undefined;
  /** Whether data that a server may have written is left out. */
  skipsData?: boolean | undefined;
}

/**
 * Digests files of a folder, given by its real path, and, recursively, the code that they name by a relative path. Follows
 * links; skips anything outside the folder and anything but files. The digests are by paths relative to the folder.
 */
export function digestFiles(
  folder: string,
  files: readonly string[],
  {
    isWithin: mayFollow = (file) => isWithin(folder, file),
    alsoNamed = () => [],
    skipsData,
  }: FollowOptions = {},
): Map<string, string> {
  const digests = new Map<string, string>();
  const open = files.map((file) => realPath(file));
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    const name = relative(folder, file);
    if (digests.has(name) || digests.size >= MAX_FILES || !mayFollow(file)) continue;
    const bytes = readFile(file);
    if (bytes === undefined || (skipsData && isData(file, bytes))) continue;
    digests.set(name, typeof bytes === "string" ? bytes : createHash("sha256").update(bytes).digest("hex"));
    if (typeof bytes === "string" || !CODE.has(extname(file))) continue;
    const code = bytes.toString("utf8");
    open.push(...alsoNamed(file, code));
    for (const { groups } of code.matchAll(RELATIVE)) {
      const place = resolve(dirname(file), groups?.["path"] ?? "");
      open.push(...ENDINGS.map((ending) => realPath(place + ending)));
    }
  }
  return digests;
}

/** Whether a file is an SQLite database or JSON lines. */
function isData(file: string, bytes: Buffer | string): boolean {
  if (typeof bytes === "string") return false;
  if (bytes.toString("latin1", 0, DATABASE.length) === DATABASE) return true;
  if (!/\.(?:jsonl|ndjson)$/iu.test(file)) return false;
  const lines = bytes.toString("utf8").split("\n");
  return lines.every((line) => line.trim() === "" || parseJson(line) !== undefined);
}

/** Files of a package that are never loaded, of which there may be thousands. */
const NEVER_LOADED = /\.(?:map|md|d\.[cm]?ts)$/iu;

/** One digest of all files of a package's folder that can be loaded, without the packages in it. Follows no imports. */
export function digestPackage(folder: string): string {
  const digest = createHash("sha256");
  const open = [folder];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    const entries = readdirSync(place, { withFileTypes: true });
    for (const entry of entries.toSorted(({ name: one }, { name: other }) => (one < other ? -1 : 1))) {
      const file = join(place, entry.name);
      if (entry.isDirectory() && entry.name !== "node_modules") open.push(file);
      const bytes = entry.isDirectory() || NEVER_LOADED.test(file) ? undefined : readFile(file, Infinity);
      if (bytes !== undefined)
        digest.update(JSON.stringify([relative(folder, file), bytes.length])).update(bytes);
    }
  }
  return digest.digest("hex");
}

/**
 * Reads a regular file synchronously. Of one that is too large, returns the beginning of a database, or else its size and time.
 *
 * @returns `undefined` for anything else.
 */
function readFile(file: string, maxBytes = MAX_FILE_BYTES): Buffer | string | undefined {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const found = fstatSync(descriptor);
    if (!found.isFile()) return undefined;
    if (found.size > maxBytes) {
      const start = Buffer.alloc(DATABASE.length);
      readSync(descriptor, start);
      return start.toString("latin1") === DATABASE ? start : `${found.size} bytes of ${found.mtimeMs}`;
    }
    return readFileSync(descriptor);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
