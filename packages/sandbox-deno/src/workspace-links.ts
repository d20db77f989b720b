import { lstat, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => path === root || path.startsWith(root.endsWith(sep) ? root : root + sep));
}

/**
 * Finds a symbolic link under `roots` that leads out of all of them, or is dangling. The roots themselves may be
 * links.
 *
 * @returns Its path; `undefined` when there is none.
 */
export async function findLeavingLink(roots: readonly string[]): Promise<string | undefined> {
  const real = await Promise.all(roots.map((root) => realpath(root)));
  const pending = [...real];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else if (entry.isSymbolicLink() && !(await staysInside(path, real))) return path;
    }
  }
  return undefined;
}

async function staysInside(link: string, roots: readonly string[]): Promise<boolean> {
  try {
    return isInside(await realpath(link), roots);
  } catch {
    // Dangling: a file created through it could land anywhere.
    return false;
  }
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
