import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { describeFailure, resolveInWorkspace } from "./paths.ts";

/** The folder to list. */
export interface ListDirectoryInput {
  /** Path of the folder in the workspace; the workspace itself when left out. */
  path?: string;
}

/** One entry of a folder. */
export interface DirectoryEntry {
  /** Name of the file or folder, without its path. */
  name: string;
  /** Path of the entry in the workspace, as `read_file` takes it. */
  path: string;
  /** The kind of the entry. */
  type: "file" | "directory" | "link" | "other";
  /** Size in bytes; 0 for what is not a file. */
  bytes: number;
}

/**
 * List the files and folders in a folder of the workspace.
 *
 * @returns The entries, sorted by name.
 * @readOnly
 * @idempotent
 */
export async function list_directory(input: ListDirectoryInput = {}): Promise<DirectoryEntry[]> {
  const { absolute, path } = await resolveInWorkspace("list_directory", input?.path ?? ".");
  const names = await readdir(absolute).catch((error: unknown) => {
    throw describeFailure(error, "list", path);
  });
  const entries = await Promise.all(
    names.map(async (name): Promise<DirectoryEntry | null> => {
      const found = await lstat(join(absolute, name)).catch(() => null);
      if (!found) return null;
      const type = found.isFile()
        ? "file"
        : found.isDirectory()
          ? "directory"
          : found.isSymbolicLink()
            ? "link"
            : "other";
      return {
        name,
        path: path === "." ? name : `${path}/${name}`,
        type,
        bytes: type === "file" ? found.size : 0,
      };
    }),
  );
  return entries
    .filter((entry) => entry !== null)
    .toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}
