import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import path from "node:path";

/** A file, folder or link, with what tells that it was changed. */
interface Entry {
  kind: "file" | "directory" | "link";
  bytes: number;
  mode: number;
  /** The file's own identity and the time of its last change, which nobody but the system sets. */
  stamp: string;
  /** Where a link leads. */
  target?: string | undefined;
}

/** The entries of a folder by relative path; a file is one entry, with an empty path. */
export type Entries = ReadonlyMap<string, Entry>;

/** A change of a file, folder or link. */
export interface FolderChange {
  tool: "write_file" | "make_directory" | "make_link" | "change_mode" | "delete_file" | "delete_directory";
  path: string;
  /** The state afterwards: the size of a file, the mode, the target of a link. */
  now: { bytes?: number; mode?: string; target?: string };
}

/** The entries of a folder. A missing folder is empty. */
export async function entriesIn(folder: string): Promise<Entries> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const all = await Promise.all(
    ["", ...names].map(async (name) => [name, await entryAt(path.join(folder, name))] as const),
  );
  const found = all.filter((one): one is readonly [string, Entry] => one[1] !== undefined);
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function entryAt(file: string): Promise<Entry | undefined> {
  const status = await lstat(file, { bigint: true }).catch(() => undefined);
  if (status === undefined) return undefined;
  const kind = status.isFile() ? "file" : status.isDirectory() ? "directory" : "link";
  return {
    kind,
    bytes: Number(status.size),
    mode: Number(status.mode & 0o777n),
    stamp: `${status.ino} ${status.ctimeNs}`,
    target: status.isSymbolicLink() ? await readlink(file).catch(() => "") : undefined,
  };
}

/**
 * Lists the changes in a folder since its entries were read. A folder is named only where none of its files is.
 *
 * @param original - Holds the same files as they were before.
 */
export async function changesIn(folder: string, before: Entries, original: string): Promise<FolderChange[]> {
  const after = await entriesIn(folder);
  const changes: FolderChange[] = [];
  for (const [name, now] of after) {
    const change = await changeOf(now, before.get(name), path.join(original, name), path.join(folder, name));
    if (change !== undefined) changes.push({ path: name, ...change });
  }
  for (const [name, { kind }] of before) {
    if (after.has(name)) continue;
    changes.push({ tool: kind === "directory" ? "delete_directory" : "delete_file", path: name, now: {} });
  }
  return changes.filter(
    ({ tool, path: name }) =>
      !tool.endsWith("directory") ||
      !changes.some(
        (other) => other.path.startsWith(name === "" ? name : name + path.sep) && other.path !== name,
      ),
  );
}

async function changeOf(
  now: Entry,
  was: Entry | undefined,
  original: string,
  copy: string,
): Promise<Omit<FolderChange, "path"> | undefined> {
  const isNew = was?.kind !== now.kind;
  if (now.kind === "directory" && isNew) return { tool: "make_directory", now: {} };
  if (now.kind === "link")
    return isNew || was.target !== now.target
      ? { tool: "make_link", now: { target: now.target ?? "" } }
      : undefined;
  if (now.kind === "file" && (isNew || (was.stamp !== now.stamp && !(await isSameFile(original, copy)))))
    return { tool: "write_file", now: { bytes: now.bytes } };
  if (was === undefined || was.mode === now.mode) return undefined;
  return { tool: "change_mode", now: { mode: `0${now.mode.toString(8)}` } };
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([readFile(one).catch(() => undefined), readFile(other)]);
  return left?.equals(right) === true;
}
