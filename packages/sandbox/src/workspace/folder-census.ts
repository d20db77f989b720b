import type { Dirent } from "node:fs";
import { lstat, readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** Disk usage of a folder and everything below it. Links are not followed. */
export interface FolderUsage {
  /** Files, folders and others. */
  entries: number;
  /** Space that they take, in bytes. */
  bytes: number;
  /** A folder that can't be listed, although this user owns it or because its path is too long. */
  unlisted?: string | undefined;
}

interface CensusOptions {
  sizes: boolean;
  maxEntries: number;
  /** Ends the counting when true. */
  isStopped: () => boolean;
}

/** A folder as it was when it was last listed. */
interface Listing {
  /** When it was last changed, which no program can set. */
  changedMs: number;
  listedMs: number;
  entries: number;
  /** Its files together. */
  bytes: number;
  folders: readonly string[];
}

/** Folders that are listed, and files that are measured, at once. */
const PARALLEL = 16;
/** A change shortly before a listing may have the same time as one after it. */
const SETTLED_MS = 50;
const BYTES_PER_BLOCK = 512;

/** Counts a folder again and again, and lists only those folders anew that have changed. */
export class FolderCensus {
  readonly #root: string;
  #listings = new Map<string, Listing>();

  constructor(root: string) {
    this.#root = root;
  }

  /**
   * Counts. Sizes cost a look at each file; without them, those of the last time are taken. Counting ends early above `maxEntries`.
   */
  async count({ sizes, maxEntries, isStopped }: CensusOptions): Promise<FolderUsage> {
    const usage: FolderUsage = { entries: 0, bytes: 0 };
    const seen = new Map<string, Listing>();
    const pending = [this.#root];
    while (pending.length > 0 && usage.entries <= maxEntries && !isStopped()) {
      const paths = pending.splice(-PARALLEL);
      const listings = await Promise.all(paths.map((path) => this.#list(path, sizes, usage)));
      for (const [index, listing] of listings.entries()) {
        const path = paths[index] as string;
        if (listing === undefined) continue;
        seen.set(path, listing);
        usage.entries += listing.entries;
        usage.bytes += listing.bytes;
        for (const name of listing.folders) pending.push(join(path, name));
      }
    }
    // Folders that were skipped by an early end are listed anew next time.
    this.#listings = seen;
    return usage;
  }

  async #list(path: string, sizes: boolean, usage: FolderUsage): Promise<Listing | undefined> {
    const known = this.#listings.get(path);
    try {
      const { ctimeMs: changedMs } = path === this.#root ? await stat(path) : await lstat(path);
      const isSettled = known !== undefined && known.listedMs - changedMs > SETTLED_MS;
      if (!sizes && isSettled && known.changedMs === changedMs) return known;
      const listedMs = Date.now();
      const found = await readdir(path, { withFileTypes: true });
      const folders = found.filter((entry) => entry.isDirectory()).map(({ name }) => name);
      const bytes = sizes ? await sizeOf(path, found) : (known?.bytes ?? 0);
      return { changedMs, listedMs, entries: found.length, bytes, folders };
    } catch (error) {
      if (await isHidden(path, (error as NodeJS.ErrnoException).code)) usage.unlisted = path;
      return undefined;
    }
  }
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

/** Whether a program could have made a folder that the host can't list. One that was removed meanwhile is not. */
async function isHidden(path: string, code: string | undefined): Promise<boolean> {
  if (code === "ENAMETOOLONG") return true;
  if (code !== "EACCES" && code !== "EPERM") return false;
  const found = await lstat(path).catch(() => undefined);
  return found !== undefined && found.uid === process.getuid?.();
}
