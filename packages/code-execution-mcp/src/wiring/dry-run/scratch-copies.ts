import { createHash } from "node:crypto";
import { constants, createReadStream, existsSync, type Stats } from "node:fs";
import { chmod, copyFile, lstat, mkdir, mkdtemp, readdir, readlink, symlink } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { isWithin, realPath, type Config } from "@cem/config";
import { BYTES_PER_MB, CemError } from "@cem/core";
import { descriptorPath, ignoreMissing, openUnfollowed, PRIVATE_FOLDER, removeFolder } from "@cem/core/files";

/** A file, folder or link, with the fields that show a change. */
interface Entry {
  kind: "file" | "directory" | "link";
  bytes: number;
  mode: number;
  /** The inode and change time of the file, which only the system sets. */
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
async function entriesIn(folder: string): Promise<Entries> {
  const found: (readonly [string, Entry])[] = [];
  for (let names = [""]; names.length > 0;) {
    const entries = await Promise.all(
      names.map(async (name) => [name, await entryAt(path.join(folder, name))] as const),
    );
    const there = entries.filter((one): one is readonly [string, Entry] => one[1] !== undefined);
    found.push(...there);
    const folders = there.filter(([, { kind }]) => kind === "directory");
    const below = await Promise.all(
      folders.map(async ([name]) =>
        (await namesIn(path.join(folder, name))).map((one) => path.join(name, one)),
      ),
    );
    names = below.flat();
  }
  return new Map(found.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** The names in a folder of a copy, even if a program removed its permissions. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    await chmod(folder, PRIVATE_FOLDER);
    return readdir(folder);
  }
}

async function entryAt(file: string): Promise<Entry | undefined> {
  const status = await lstat(file, { bigint: true }).catch(ignoreMissing);
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
  const after = await entriesIn(folder).catch((error: unknown) => {
    throw unread(original, error);
  });
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
  if (
    now.kind === "file" &&
    (isNew || (was.stamp !== now.stamp && !(was.bytes === now.bytes && (await isSameFile(original, copy)))))
  )
    return { tool: "write_file", now: { bytes: now.bytes } };
  if (was === undefined || was.mode === now.mode) return undefined;
  return { tool: "change_mode", now: { mode: `0${now.mode.toString(8)}` } };
}

async function isSameFile(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([one, other].map((file) => digestOf(file).catch(() => undefined)));
  return left !== undefined && left === right;
}

async function digestOf(file: string): Promise<string> {
  const digest = createHash("sha256");
  await pipeline(createReadStream(file), digest);
  return digest.digest("hex");
}

/**
 * Copies a file, folder or link. What is opened is copied, and no link is followed: a program that still runs may swap
 * a folder for one. Anything that goes meanwhile is left out.
 *
 * @param place - The path of `from` that errors name.
 * @param check - Gets what is copied before it is, and may throw.
 */
async function copyEntry(
  from: string,
  place: string,
  to: string,
  check: (found: Stats) => void,
): Promise<void> {
  const link = await lstat(from).catch(ignoreMissing);
  if (link?.isSymbolicLink() === true) {
    check(link);
    const target = await readlink(from).catch(ignoreSwapped);
    return target === undefined ? undefined : symlink(target, to);
  }
  await using handle = await openUnfollowed(from).catch((error: Error) => {
    error.message = error.message.replace(from, place);
    return ignoreSwapped(error);
  });
  const found = await handle?.stat();
  if (handle === undefined || found === undefined || !(found.isFile() || found.isDirectory())) return;
  check(found);
  const opened = descriptorPath(handle.fd, place);
  if (found.isFile()) return await copyFile(opened, to, constants.COPYFILE_FICLONE);
  await mkdir(to);
  for (const name of await readdir(opened))
    await copyEntry(path.join(opened, name), path.join(place, name), path.join(to, name), check);
  await chmod(to, found.mode & 0o777);
}

/** Ignores what has gone, became a link or is none any more, and sockets. */
function ignoreSwapped(error: NodeJS.ErrnoException): undefined {
  if (!["ELOOP", "EINVAL", "ENXIO"].includes(error.code ?? "")) ignoreMissing(error);
}

type Limits = Config["execution"]["limits"];

/** A path on the host and the copy that a dry run uses instead. */
export interface ScratchCopy {
  original: string;
  copy: string;
  /** The initial entries of the copy. */
  before: Entries;
}

/**
 * Copies the paths that a run may write to, within the limits of a workspace. A path inside an already copied one is part
 * of that copy.
 */
export async function createScratchCopies({ maxWorkspaceMb, maxWorkspaceEntries }: Limits) {
  const folder = await mkdtemp(path.resolve(os.tmpdir(), "cem-dry-run-"));
  const made: ScratchCopy[] = [];
  /** The path in a copy that corresponds to a host path. `undefined` if the host path was not copied. */
  const find = (place: string): string | undefined => {
    const real = realPath(place);
    const found = made.find(({ original }) => isWithin(original, real));
    return found && path.join(found.copy, path.relative(found.original, real));
  };
  return {
    folder,
    made,
    find,
    /**
     * Copies a path, with links as links. A missing folder becomes an empty one.
     *
     * @throws CemError `WORKSPACE_FULL` if it exceeds the limits of a workspace, or `WORKSPACE_UNUSABLE`.
     */
    async copyOf(place: string): Promise<string> {
      const found = find(place);
      if (found !== undefined) return found;
      const original = realPath(place);
      const copy = path.join(folder, String(made.length), path.basename(original));
      await mkdir(path.dirname(copy));
      const left = { entries: maxWorkspaceEntries, bytes: maxWorkspaceMb * BYTES_PER_MB };
      const check = ({ size }: Stats): void => {
        left.entries -= 1;
        left.bytes -= size;
        if (left.entries < 0 || left.bytes < 0) {
          const message = `${place} holds more than ${maxWorkspaceMb} MiB or ${maxWorkspaceEntries} files, and a dry run has to copy it.`;
          throw new CemError("WORKSPACE_FULL", message, { details: { folder: place } });
        }
      };
      try {
        await copyEntry(original, original, copy, check);
        if (!existsSync(copy)) await mkdir(copy);
      } catch (error) {
        throw CemError.isInstance(error) ? error : unread(place, error);
      }
      made.push({ original, copy, before: await entriesIn(copy) });
      return copy;
    },
    remove: () => removeFolder(folder),
  };
}

function unread(place: string, error: unknown): CemError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${place} can't be read for a dry run: ${reason}`;
  return new CemError("WORKSPACE_UNUSABLE", message, { details: { folder: place }, cause: error });
}
