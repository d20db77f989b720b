import { lstatSync, type BigIntStats } from "node:fs";
import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { CemError, GUEST_WORKSPACE } from "@cem/core";
import { isWithin } from "@cem/core/files";
import { toGuestPath, type GuestPlan, type IsolationBackend } from "./guest-plan.ts";

/**
 * Creates the check before each run, for guests isolated only by Deno's permissions: a symbolic link in the workspace
 * would give access to files outside.
 *
 * @returns `undefined` when the isolation level needs no check.
 * @throws CemError `SANDBOX_SPEC_INVALID` when a mount's path in the workspace is a symbolic link.
 */
export async function workspaceCheck({ level }: IsolationBackend, plan: GuestPlan) {
  const { workspaceDir, mounts } = plan;
  for (const { guestPath } of mounts) {
    if (!guestPath.startsWith(`${GUEST_WORKSPACE}/`)) continue;
    const place = workspaceDir + guestPath.slice(GUEST_WORKSPACE.length);
    if (!(await hasLinkBetween(workspaceDir, place))) continue;
    throw new CemError(
      "SANDBOX_SPEC_INVALID",
      `${place} is a symbolic link, so nothing can be mounted there. Remove it.`,
      { details: { path: place } },
    );
  }
  if (level !== "permissions") return undefined;
  const roots = [workspaceDir, ...mounts.map(({ hostPath }) => hostPath)];
  const unmovable = mounts.filter(({ readOnly }) => readOnly).map(({ hostPath }) => hostPath);
  const findLeavingLink = createLinkSearch(roots, unmovable);
  return async () => {
    const link = await findLeavingLink();
    if (link === undefined) return undefined;
    return {
      code: "WORKSPACE_LINK_REFUSED",
      message: `${toGuestPath(plan, link)} is a symbolic link that leads out of the workspace, or up and so out of it once it is moved, and isolation level permissions can't confine it. Remove the link, or install bubblewrap.`,
    };
  };
}

/** Two changes in the same tick of the system's clock give a folder the same time. */
const SETTLED_MS = 2_000;
const NS_PER_MS = 1_000_000n;
/** Folders to check before yielding the thread: some milliseconds of work. */
const FOLDERS_PER_TURN = 500;

/** Cached listing of one folder: its subfolders and symbolic links. */
interface ReadFolder {
  /** The folder itself, and its last change: programs can't set that time. */
  id: string;
  folders: readonly string[];
  links: readonly string[];
}

function isInside(path: string, roots: readonly string[]): boolean {
  return roots.some((root) => isWithin(root, path));
}

/**
 * Creates a search for a symbolic link under `roots` that leads out of all of them, is dangling, or would lead out once
 * a program has moved it. The roots themselves may be links. A search reads only the folders that have changed since
 * the previous one.
 *
 * @param unmovable - Roots in which programs can't move anything.
 * @returns The search, which resolves with the link's path; `undefined` when there is none.
 */
export function createLinkSearch(roots: readonly string[], unmovable: readonly string[] = []) {
  const read = new Map<string, ReadFolder>();
  return async () => {
    const real = await Promise.all(roots.map((root) => realpath(root)));
    const fixed = await Promise.all(unmovable.map((root) => realpath(root)));
    const seen = new Set<string>();
    const pending = [...real];
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      if (seen.size % FOLDERS_PER_TURN === 0) await nextTurn();
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
  // Synchronous: in a large tree, dispatching each to a thread would take longer.
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
  const settledNs = BigInt(Date.now() - SETTLED_MS) * NS_PER_MS;
  if (before !== undefined && before.ctimeNs < settledNs) read.set(path, found);
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

async function staysInside(link: string, roots: readonly string[]): Promise<boolean> {
  try {
    return isInside(await realpath(link), roots);
  } catch {
    // Dangling: a file created through it could land anywhere.
    return false;
  }
}

/** Whether the target of a link changes when it, or a folder above it, is moved. */
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
