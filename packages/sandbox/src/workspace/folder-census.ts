import { randomBytes } from "node:crypto";
import type { Dirent } from "node:fs";
import { lstat, readdir, realpath, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ignoreMissing, openShut, type ContainedFolder } from "@cem/core/files";

/** Disk usage of a folder and everything below it. Links are not followed. */
export interface FolderUsage {
  /** Number of files, folders and other entries. */
  entries: number;
  /** Disk space that they take, in bytes. */
  bytes: number;
  /** The new place of a folder whose path was too long. */
  moved?: string | undefined;
}

interface CensusOptions {
  /** Whether to measure each file; otherwise `bytes` is 0. */
  sizes: boolean;
  /** Counting ends early above it. */
  maxEntries: number;
  /** Counting stops when it returns true. */
  isStopped: () => boolean;
}

/** Number of folders listed, and of files measured, in parallel. */
const PARALLEL = 16;
const BYTES_PER_BLOCK = 512;
/** Systems accept paths of about 4,096 bytes, macOS of 1,024; a name has at most 255. */
const MAX_PATH_BYTES = process.platform === "darwin" ? 750 : 3_800;

/**
 * Counts the content of a folder, recursively. So that a program can hide nothing, a folder that it has shut against its
 * owner is opened, and one whose path is too long is moved to the top.
 */
export async function countFolder(root: string, { sizes, maxEntries, isStopped }: CensusOptions) {
  const usage: FolderUsage = { entries: 0, bytes: 0 };
  const pending = [root];
  const countIn = async (path: string, ignore: (error: Error) => undefined): Promise<void> => {
    const found = await readdir(path, { withFileTypes: true });
    const bytes = sizes ? await sizeOf(path, found, ignore) : 0;
    usage.entries += found.length;
    usage.bytes += bytes;
    for (const entry of found) {
      if (!entry.isDirectory()) continue;
      const below = join(path, entry.name);
      const isTooLong = Buffer.byteLength(below) > MAX_PATH_BYTES;
      const moved = isTooLong ? await moveUp(root, below).catch(() => undefined) : undefined;
      pending.push(moved ?? below);
      usage.moved = moved ?? usage.moved;
    }
  };
  const count = async (path: string): Promise<void> => {
    try {
      await countIn(path, ignoreMissing).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === "ENOENT") throw error;
        await (await openBelow(root, path))[Symbol.asyncDispose]();
        await countIn(path, () => undefined);
      });
    } catch {
      // It was removed meanwhile, or belongs to another user, in whose folders no program writes.
    }
  };
  while (pending.length > 0 && usage.entries <= maxEntries && !isStopped())
    await Promise.all(pending.splice(-PARALLEL).map(count));
  return usage;
}

async function sizeOf(
  folder: string,
  entries: readonly Dirent[],
  ignore: (error: Error) => undefined,
): Promise<number> {
  const files = entries.filter((entry) => !entry.isDirectory());
  let bytes = 0;
  for (let index = 0; index < files.length; index += PARALLEL) {
    const sizes = files.slice(index, index + PARALLEL).map(async ({ name }) => {
      const found = await lstat(join(folder, name)).catch(ignore);
      return (found?.blocks ?? 0) * BYTES_PER_BLOCK;
    });
    for (const size of await Promise.all(sizes)) bytes += size;
  }
  return bytes;
}

/** Moves a folder to the top. @returns its new path */
async function moveUp(root: string, path: string): Promise<string> {
  // Moving takes its owner's access.
  await (await openBelow(root, path))[Symbol.asyncDispose]();
  await using folder = await openBelow(root, dirname(path));
  const moved = join(root, `moved-${randomBytes(4).toString("hex")}`);
  await rename(folder.child(basename(path)), moved);
  return moved;
}

/** Opens a folder and gives its owner access to it and to those above. No link that takes their place is followed. */
async function openBelow(root: string, path: string): Promise<ContainedFolder> {
  await using above = path === root ? undefined : await openBelow(root, dirname(path));
  // The workspace itself may be a link, which no program can change.
  const folder = openShut(above?.child(basename(path)) ?? (await realpath(root)));
  if (folder === undefined) throw new Error(`${path} is gone.`);
  return folder;
}
