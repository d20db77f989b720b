import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** Disk usage of a folder and everything below it. Links are not followed. */
export interface FolderUsage {
  /** Number of files, folders and other entries. */
  entries: number;
  /** Disk space that they take, in bytes. */
  bytes: number;
  /** A folder that can't be listed, although this user owns it or because its path is too long. */
  unlisted?: string | undefined;
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

/** Counts the content of a folder, recursively. */
export async function countFolder(root: string, { sizes, maxEntries, isStopped }: CensusOptions) {
  const usage: FolderUsage = { entries: 0, bytes: 0 };
  const pending = [root];
  const count = async (path: string): Promise<void> => {
    try {
      const found = await readdir(path, { withFileTypes: true });
      usage.entries += found.length;
      for (const entry of found) if (entry.isDirectory()) pending.push(join(path, entry.name));
      const bytes = sizes ? await sizeOf(path, found) : 0;
      usage.bytes += bytes;
    } catch (error) {
      if (await isHidden(path, (error as NodeJS.ErrnoException).code)) usage.unlisted = path;
    }
  };
  while (pending.length > 0 && usage.entries <= maxEntries && !isStopped())
    await Promise.all(pending.splice(-PARALLEL).map(count));
  return usage;
}

async function sizeOf(folder: string, entries: readonly Dirent[]): Promise<number> {
  const files = entries.filter((entry) => !entry.isDirectory());
  let bytes = 0;
  for (let index = 0; index < files.length; index += PARALLEL) {
    const sizes = files.slice(index, index + PARALLEL).map(async ({ name }) => {
      const found = await lstat(join(folder, name)).catch(() => undefined);
      return (found?.blocks ?? 0) * BYTES_PER_BLOCK;
    });
    for (const size of await Promise.all(sizes)) bytes += size;
  }
  return bytes;
}

/** Whether a program could have made a folder that the host can't list. A folder that was removed meanwhile doesn't count. */
async function isHidden(path: string, code: string | undefined): Promise<boolean> {
  if (code === "ENAMETOOLONG") return true;
  if (code !== "EACCES" && code !== "EPERM") return false;
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && found.uid === process.getuid?.();
}
