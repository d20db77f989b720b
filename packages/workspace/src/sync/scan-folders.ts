import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, unlinkSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ignoreMissing, isTemporaryFile, PRIVATE_FOLDER, NotAFolder, openContained } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";
import pMap from "p-map";
import { tooManyFiles } from "./blobs.ts";
import type { Limits } from "./blobs.ts";
import { ChangedMeanwhile, digestFile, pathProblem, signatureOf } from "./file-content.ts";
import type { LocalFile, LocalFiles } from "./file-content.ts";

/**
 * Number of files examined synchronously per turn, which takes a tenth of the time of individual asynchronous calls. Yields
 * in between.
 */
const STATS_AT_ONCE = 64;
const DIGESTS_AT_ONCE = 8;
/** Names of temporary files of the state store and session logs, which are renamed once written. */
const UNFINISHED = /^\..*\.[0-9a-f]{12}\.tmp$|\.[0-9a-f]{12}\.new$/;
const MAX_SHOWN_PATH = 200;

export type Scanned = Awaited<ReturnType<typeof scanFolders>>;

/** Does not read known files with an unchanged signature again. @throws CemError `WORKSPACE_FULL` */
export async function scanFolders(
  roots: RootFolders,
  limits: Limits,
  salt: string,
  known: ReadonlyMap<string, LocalFile>,
) {
  const files: LocalFiles = new Map();
  /** Files that can't be shared, with the reason. */
  const left: string[] = [];
  let entries = 0;
  let bytes = 0;

  function requireRoom(): void {
    if (entries > limits.maxFiles || bytes > limits.maxBytes) throw tooManyFiles(entries, bytes, limits);
  }

  /** @returns whether its content is known. */
  function take(path: string, found: BigIntStats): boolean {
    bytes += Number(found.size);
    requireRoom();
    const before = known.get(path);
    if (before?.signature === undefined || before.signature !== signatureOf(found)) return false;
    files.set(path, before);
    return true;
  }

  function leave(path: string, problem: string, found: BigIntStats | undefined): void {
    if (found !== undefined && !found.isFile() && !found.isDirectory()) return;
    left.push(`${JSON.stringify(path.slice(0, MAX_SHOWN_PATH))}: ${problem}`);
  }

  async function read(folder: ContainedFolder, path: string): Promise<void> {
    const names = readdirSync(folder.child("."));
    entries += names.length;
    requireRoom();
    const [folders, unknown]: [string[], string[]] = [[], []];
    for (let at = 0; at < names.length; at += STATS_AT_ONCE) {
      if (at > 0) await nextTurn();
      for (const name of names.slice(at, at + STATS_AT_ONCE)) {
        if (isTemporaryFile(name) || UNFINISHED.test(name)) continue;
        const found = lstatSync(folder.child(name), { bigint: true, throwIfNoEntry: false });
        const child = `${path}/${name}`;
        const problem = pathProblem(child);
        if (problem !== undefined) leave(child, problem, found);
        else if (found?.isDirectory() === true) folders.push(name);
        else if (found?.isFile() === true && !take(child, found)) unknown.push(name);
      }
    }
    const digest = async (name: string): Promise<void> => {
      const file = await digestFile(folder.child(name), salt);
      if (file !== undefined) files.set(`${path}/${name}`, file);
    };
    await pMap(unknown, digest, { concurrency: DIGESTS_AT_ONCE });
    for (const name of folders) {
      await using inner = await folder.open(name).catch(ignoreReplaced);
      if (inner !== undefined) await read(inner, `${path}/${name}`);
    }
  }

  for (const { name } of roots.roots) {
    await using folder = await roots.open(name);
    if (folder !== undefined) await read(folder, name);
  }
  return { files, left };
}

/** Ignores errors of files that hostile code has replaced meanwhile. */
function ignoreReplaced(error: unknown): undefined {
  if (!(error instanceof NotAFolder)) throw error;
}

/** A synchronized local folder, and the prefix of its files' paths. */
export interface Root {
  name: string;
  folder: string;
}

export type RootFolders = ReturnType<typeof createRootFolders>;

/** Opens the folders of a workspace, whose contents may be hostile. Links are not followed. */
export function createRootFolders(roots: readonly Root[]) {
  async function openOrMake(path: string, create: boolean): Promise<ContainedFolder | undefined> {
    const [name, ...parts] = path.split("/");
    const root = roots.find((one) => one.name === name);
    if (root === undefined) throw new TypeError(`There is no folder for ${path}.`);
    if (create) await mkdir(root.folder, { recursive: true, mode: PRIVATE_FOLDER });
    return openContained(root.folder, parts, create).catch(ignoreMissing);
  }

  /** @returns `undefined` if there is none. */
  function open(path: string): Promise<ContainedFolder | undefined> {
    return openOrMake(path, false).catch(ignoreReplaced);
  }

  async function removeObstacle(path: string): Promise<void> {
    const parts = path.split("/");
    for (let length = 2; length <= parts.length; length += 1) {
      const part = parts.slice(0, length).join("/");
      await using above = await open(dirname(part));
      const child = above?.child(basename(part));
      const found = child === undefined ? undefined : lstatSync(child, { throwIfNoEntry: false });
      if (child === undefined || found === undefined) return;
      if (found.isFile()) throw new ChangedMeanwhile(part);
      if (!found.isDirectory()) return unlinkSync(child);
    }
  }

  return {
    roots,
    /** The identities of the roots, so that a recreated folder is not mistaken for an emptied one. */
    identities(): Record<string, string> {
      return Object.fromEntries(roots.map(({ name, folder }) => [name, identityOf(folder)]));
    },
    open,
    /** Creates a folder if missing. Links in the way are removed. @throws ChangedMeanwhile */
    async make(path: string): Promise<ContainedFolder> {
      for (let tries = 0; ; tries += 1) {
        const isLast = tries > path.split("/").length;
        try {
          const folder = await openOrMake(path, true);
          if (folder !== undefined) return folder;
        } catch (error) {
          if (!(error instanceof NotAFolder) || isLast) throw error;
          await removeObstacle(path);
        }
        if (isLast) throw new ChangedMeanwhile(path);
      }
    },
  };
}

/** An inode number may be reused for another folder; the birth time distinguishes them. */
function identityOf(folder: string): string {
  let found = statSync(folder, { bigint: true, throwIfNoEntry: false });
  if (found === undefined) {
    mkdirSync(folder, { recursive: true, mode: PRIVATE_FOLDER });
    found = statSync(folder, { bigint: true });
  }
  if (found.birthtimeNs === found.ctimeNs) {
    // Either just created, or the file system reports the change time as the birth time, which this call changes.
    chmodSync(folder, Number(found.mode) & MODE_BITS);
    found = statSync(folder, { bigint: true });
  }
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  return [dev, ino, birthtimeNs === ctimeNs ? 0 : birthtimeNs].join(":");
}

const MODE_BITS = 0o7777;
