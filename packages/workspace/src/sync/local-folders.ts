import { randomBytes } from "node:crypto";
import { lstat, readdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import { ignoreMissing, openHandle, PRIVATE_FILE, removeFolder } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";
import type { Limits } from "./blobs.ts";
import { ChangedMeanwhile, isSettled, nameBeside, readPieces, signatureOf } from "./file-content.ts";
import type { LocalFile } from "./file-content.ts";
import { createRootFolders, scanFolders } from "./scan-folders.ts";
import type { Root } from "./scan-folders.ts";

export type LocalFolders = ReturnType<typeof createLocalFolders>;

/** The files of a workspace on this machine. */
export function createLocalFolders(roots: readonly Root[], limits: Limits) {
  const folders = createRootFolders(roots);
  return {
    ...folders,
    scan: (salt: string, known: ReadonlyMap<string, LocalFile>) => scanFolders(folders, limits, salt, known),
    /** Reads a file piece by piece, each into a new buffer. @returns its signature, if reliable. @throws ChangedMeanwhile */
    async read(path: string, take: (piece: Buffer) => void | Promise<void>): Promise<string | undefined> {
      await using folder = await folders.open(dirname(path));
      const found = folder && (await readPieces(folder.child(basename(path)), take));
      if (found === undefined) throw new ChangedMeanwhile(path);
      return found.isChanged ? undefined : found.signature;
    },
    /** Writes a file atomically in place of the expected one. @throws ChangedMeanwhile */
    async write(
      path: string,
      pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
      expected: LocalFile | undefined,
    ): Promise<string | undefined> {
      await using folder = await folders.make(dirname(path));
      const temporary = folder.child(`.cem-${randomBytes(8).toString("hex")}.tmp`);
      try {
        await using handle = await openHandle(temporary, "wx", PRIVATE_FILE);
        for await (const piece of pieces) await handle.writeFile(piece);
        const written = await handle.stat({ bigint: true });
        const target = folder.child(basename(path));
        await makeWay(folder, path, expected);
        await rename(temporary, target);
        const found = await lstat(target, { bigint: true });
        // The file had an unguessable temporary name before, so nothing else has written to it.
        return found.ino === written.ino && isSettled(found, Date.now()) ? signatureOf(found) : undefined;
      } finally {
        await rm(temporary, { force: true });
      }
    },
    /** Renames a file. @throws ChangedMeanwhile */
    async move(from: string, to: string, expected: LocalFile): Promise<void> {
      await using folder = await folders.make(dirname(from));
      await expectFile(folder, from, expected);
      await rename(folder.child(basename(from)), folder.child(basename(to)));
    },
    /** Removes a file, and folders that become empty. @throws ChangedMeanwhile */
    async remove(path: string, expected: LocalFile): Promise<void> {
      {
        await using folder = await folders.open(dirname(path));
        if (folder === undefined) return;
        await expectFile(folder, path, expected);
        await unlink(folder.child(basename(path))).catch(ignoreMissing);
      }
      for (let parent = dirname(path); parent.includes("/"); parent = dirname(parent)) {
        await using above = await folders.open(dirname(parent));
        if (above === undefined) return;
        try {
          await rmdir(above.child(basename(parent)));
        } catch {
          return;
        }
      }
    },
    /** Removes the contents of the roots. */
    async clear(): Promise<void> {
      for (const { folder } of roots) {
        const names = await readdir(folder).catch(ignoreMissing);
        for (const name of names ?? []) await removeFolder(`${folder}/${name}`);
      }
    },
  };
}

/** Makes way for a file: removes anything that is not a file, which is neither shared nor followed. */
async function makeWay(
  folder: ContainedFolder,
  path: string,
  expected: LocalFile | undefined,
): Promise<void> {
  const target = folder.child(basename(path));
  const found = await lstat(target, { bigint: true }).catch(ignoreMissing);
  if (found?.isDirectory() === true)
    await rename(target, folder.child(basename(nameBeside(path, randomBytes(8).toString("hex")))));
  else if (found?.isFile() === true) await expectFile(folder, path, expected);
  else if (expected !== undefined) throw new ChangedMeanwhile(path);
}

/** Without a reliable signature, the content is read again. */
async function expectFile(
  folder: ContainedFolder,
  path: string,
  expected: LocalFile | undefined,
): Promise<void> {
  const found = await lstat(folder.child(basename(path)), { bigint: true }).catch(ignoreMissing);
  const isAsExpected =
    expected !== undefined &&
    found?.isFile() === true &&
    Number(found.size) === expected.size &&
    (expected.signature === undefined || expected.signature === signatureOf(found));
  if (!isAsExpected) throw new ChangedMeanwhile(path);
}
