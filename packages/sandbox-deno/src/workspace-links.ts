import { lstatSync, type BigIntStats } from "node:fs";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

/** A change in the same tick of the system's clock as the one before does not show in a folder's time. */
const SETTLED_MS = 2_000;
const NS_PER_MS = 1_000_000n;

/** Cached listing of one folder: its subfolders and symbolic links. */
interface ReadFolder {
  /** The folder itself, and its last change: programs can't set that time. */
  id: string;
  folders: readonly string[];
  links: readonly string[];
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
}

/**
 * Creates a search for a symbolic link under `roots` that leads out of all of them, is dangling, or would lead out once a
 * program has moved it. The roots themselves may be links. A search reads only the folders that have changed since the one
 * before.
 *
 * @param unmovable - Roots in which programs can move nothing.
 * @returns The search, which resolves with the link's path; `undefined` when there is none.
 */
export function createLinkSearch(
  roots: readonly string[],
  unmovable: readonly string[] = [],
): () => Promise<string | undefined> {
  const read = new Map<string, ReadFolder>();
  return async () => {
    const real = await Promise.all(roots.map((root) => realpath(root)));
    const fixed = await Promise.all(unmovable.map((root) => realpath(root)));
    const seen = new Set<string>();
    const pending = [...real];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      const folder = await readFolder(path, read);
      for (const link of folder.links) {
        if (!(await staysInside(link, real))) return link;
        if (!isInside(link, fixed) && (await leadsUp(link))) return link;
      }
      for (const inner of folder.folders) pending.push(inner);
    }
    for (const path of read.keys()) if (!seen.has(path)) read.delete(path);
    return undefined;
  };
}

async function readFolder(path: string, read: Map<string, ReadFolder>): Promise<ReadFolder> {
  // Without waiting: in a large tree a thread for each would take longer than all of them do.
  const before = lookAt(path);
  const known = read.get(path);
  if (before !== undefined && known?.id === idOf(before)) return known;
  read.delete(path);
  const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
  const found: ReadFolder = {
    id: before === undefined ? "" : idOf(before),
    folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(path, name)),
    links: entries.filter((entry) => entry.isSymbolicLink()).map(({ name }) => join(path, name)),
  };
  if (before !== undefined && isSettled(before)) read.set(path, found);
  return found;
}

function lookAt(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function idOf({ dev, ino, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${ctimeNs}`;
}

function isSettled({ ctimeNs }: BigIntStats): boolean {
  return BigInt(Date.now() - SETTLED_MS) * NS_PER_MS > ctimeNs;
}

async function staysInside(link: string, roots: readonly string[]): Promise<boolean> {
  try {
    return isInside(await realpath(link), roots);
  } catch {
    // Dangling: a file created through it could land anywhere.
    return false;
  }
}

/** Whether a link leads to another place once it, or a folder above it, is elsewhere. */
async function leadsUp(link: string): Promise<boolean> {
  const target = await readlink(link).catch(() => "..");
  return target.split(/[/\\]/u).includes("..");
}

/** Whether some part of `path` below `root` is a symbolic link. */
export async function hasLinkBetween(root: string, path: string): Promise<boolean> {
  let current = root;
  for (const part of path.slice(root.length).split("/").filter(Boolean)) {
    current = join(current, part);
    const found = await lstat(current).catch(() => undefined);
    if (found === undefined) return false;
    if (found.isSymbolicLink()) return true;
  }
  return false;
}
