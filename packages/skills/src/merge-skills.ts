import { copyFile, link, lstat, mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { PRIVATE_FOLDER } from "@cem/core/files";
import { skillNames } from "./skill-folder.ts";

const NEW = ".new-";

/** The folders to merge skills from, and the folder to merge them into. */
export interface MergedSkills {
  /** The skills that all owners share. */
  shared: string;
  /** The skills of one owner, which win over shared ones of the same name. */
  own: string;
  /** The folder to fill. */
  into: string;
}

/**
 * Creates a folder with an owner's own skills and the shared ones. Files are hard-linked to save space, so nothing may
 * write to the folder.
 */
export async function mergeSkills({ shared, own, into }: MergedSkills): Promise<void> {
  await mkdir(into, { recursive: true, mode: PRIVATE_FOLDER });
  const wanted = new Map<string, string>();
  for (const from of [shared, own]) {
    for (const name of await skillNames(from)) wanted.set(name, path.join(from, name));
  }
  const there = await readdir(into);
  await Promise.all(
    there
      .filter((name) => !wanted.has(name))
      .map((name) => rm(path.join(into, name), { recursive: true, force: true })),
  );
  for (const [name, from] of wanted) {
    const to = path.join(into, name);
    if (await isSame(from, to)) continue;
    const fresh = path.join(into, `${NEW}${name}`);
    await rm(fresh, { recursive: true, force: true });
    await linkFolder(from, fresh);
    await rm(to, { recursive: true, force: true });
    await rename(fresh, to);
  }
}

/** Whether a folder's files are links to those of another. */
async function isSame(from: string, to: string): Promise<boolean> {
  const [names, others] = await Promise.all([filesOf(from), filesOf(to)]);
  if (others === undefined || names === undefined || names.join("\0") !== others.join("\0")) return false;
  for (const name of names) {
    const [one, other] = await Promise.all([stat(path.join(from, name)), stat(path.join(to, name))]);
    const isLinked = one.ino === other.ino && one.dev === other.dev;
    if (!isLinked && (one.mtimeMs > other.mtimeMs || one.size !== other.size)) return false;
  }
  return true;
}

/** The paths of the plain files below a folder, sorted. Links are left out: no sandbox follows them. */
async function filesOf(folder: string): Promise<string[] | undefined> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true) return undefined;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

async function linkFolder(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: PRIVATE_FOLDER });
  for (const name of (await filesOf(from)) ?? []) {
    const target = path.join(to, name);
    await mkdir(path.dirname(target), { recursive: true, mode: PRIVATE_FOLDER });
    // Copies on a different file system, or one without hard links.
    await link(path.join(from, name), target).catch(() => copyFile(path.join(from, name), target));
  }
}
