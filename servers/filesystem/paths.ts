import { lstat, realpath } from "node:fs/promises";
import { isAbsolute, join, posix, relative, sep } from "node:path";
import process from "node:process";

/** A place in the workspace. */
export interface WorkspacePath {
  /** For the file system. */
  absolute: string;
  /** Relative to the workspace, with forward slashes: what callers see. */
  path: string;
}

/**
 * Turns what a caller wrote into a place in the workspace, which is the current directory. `/workspace/…` is taken as
 * the same place, wherever the workspace really lies. Refuses all that leads outside: `..`, other absolute paths, links.
 */
export async function resolveInWorkspace(tool: string, given: unknown): Promise<WorkspacePath> {
  if (typeof given !== "string" || given.trim() === "") {
    throw new TypeError(`${tool} needs a file's path as "path", such as "notes.txt".`);
  }
  if (given.includes("\0")) throw new TypeError(`${tool} got a path with a NUL character in it.`);
  const root = await realpath(process.cwd());
  const path = posix.normalize(toRelative(given.trim().replaceAll("\\", "/"), root)).replace(/\/$/, "");
  if (posix.isAbsolute(path) || isAbsolute(path) || path === ".." || path.startsWith("../")) {
    throw refused(given, "it is outside of the workspace");
  }
  return { absolute: await followInside(root, path, given), path };
}

function toRelative(given: string, root: string): string {
  for (const base of ["/workspace", root.replaceAll("\\", "/")]) {
    if (given === base) return ".";
    if (given.startsWith(`${base}/`)) return `./${given.slice(base.length + 1)}`;
  }
  return given;
}

/** Walks the path part by part, so that a link is seen before anything goes through it. */
async function followInside(root: string, path: string, given: string): Promise<string> {
  let current = root;
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  for (const [index, part] of parts.entries()) {
    const next = join(current, part);
    const found = await lstat(next).catch(() => null);
    if (!found) return join(current, ...parts.slice(index));
    if (!found.isSymbolicLink()) {
      current = next;
      continue;
    }
    const target = await realpath(next).catch(() => null);
    if (target === null || !isInside(root, target))
      throw refused(given, `"${part}" is a link that is broken or leads out of the workspace`);
    current = target;
  }
  return current;
}

function isInside(root: string, target: string): boolean {
  const way = relative(root, target);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function refused(given: string, reason: string): Error {
  return new Error(
    `"${given}" is refused: ${reason}. Use a path such as "notes.txt" or "/workspace/notes.txt".`,
  );
}

const REASONS = new Map([
  ["ENOENT", "there is no such file or folder. list_directory shows what there is"],
  ["EISDIR", "it is a folder"],
  ["ENOTDIR", "a part of the path is a file, not a folder"],
  ["EEXIST", "a part of the path is a file, not a folder"],
  ["EACCES", "permission was denied"],
  ["EPERM", "permission was denied"],
  ["ENAMETOOLONG", "the name is too long"],
  ["ENOSPC", "there is no space left"],
]);

/** An error in plain words, with the path as the caller knows it. */
export function describeFailure(error: unknown, action: "read" | "write" | "list", path: string): Error {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  const reason = REASONS.get(code) ?? (error instanceof Error ? error.message : String(error));
  return new Error(`Can't ${action} "${path}": ${reason}.`, { cause: error });
}
