import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "@cem/core/files";
import { NotAFolder, openContained } from "../files/contained-files.ts";
import type { ContainedFolder } from "../files/contained-files.ts";
import type { Limits } from "./blobs.ts";
import {
  ChangedMeanwhile,
  ignoreMissing,
  isSettled,
  nameBeside,
  nameOf,
  openFile,
  parentOf,
  piecesOf,
  signatureOf,
} from "./file-content.ts";
import type { LocalFile } from "./file-content.ts";
import { scanFolders } from "./scan-folders.ts";
import type { Scanned } from "./scan-folders.ts";

const MODE_BITS = 0o7777;

/** A folder of this machine that is kept in step, and the name that its files' paths begin with. */
export interface Root {
  name: string;
  folder: string;
}

/** Opens the folders of a workspace, where hostile code may have put anything. Links are not followed. */
export class RootFolders {
  readonly roots: readonly Root[];

  constructor(roots: readonly Root[]) {
    this.roots = roots;
  }

  /** Which folders the roots are, so that one that was removed and made anew is not taken for one that was emptied. */
  async identities(): Promise<Record<string, string>> {
    const found = await Promise.all(
      this.roots.map(async ({ name, folder }) => [name, await identityOf(folder)] as const),
    );
    return Object.fromEntries(found);
  }

  /** @returns `undefined` where there is none. */
  open(path: string): Promise<ContainedFolder | undefined> {
    return this.#open(path, false).catch((error: unknown) => {
      if (error instanceof NotAFolder) return undefined;
      throw error;
    });
  }

  /** Makes a folder where there is none. Links that stand in the way are removed. @throws ChangedMeanwhile */
  async make(path: string): Promise<ContainedFolder> {
    for (let tries = 0; ; tries += 1) {
      try {
        const folder = await this.#open(path, true);
        if (folder !== undefined) return folder;
      } catch (error) {
        if (!(error instanceof NotAFolder) || tries > path.split("/").length) throw error;
        await this.#removeObstacle(path);
      }
      if (tries > path.split("/").length) throw new ChangedMeanwhile(path);
    }
  }

  async #removeObstacle(path: string): Promise<void> {
    const parts = path.split("/");
    for (let length = 2; length <= parts.length; length += 1) {
      const part = parts.slice(0, length).join("/");
      await using above = await this.open(parentOf(part));
      const child = above?.child(nameOf(part));
      const found = child === undefined ? undefined : await lstat(child).catch(ignoreMissing);
      if (child === undefined || found === undefined) return;
      if (found.isFile()) throw new ChangedMeanwhile(part);
      if (!found.isDirectory()) return unlink(child);
    }
  }

  async #open(path: string, create: boolean): Promise<ContainedFolder | undefined> {
    const [name, ...parts] = path.split("/");
    const root = this.roots.find((one) => one.name === name);
    if (root === undefined) throw new TypeError(`There is no folder for ${path}.`);
    if (create) await mkdir(root.folder, { recursive: true, mode: PRIVATE_FOLDER });
    return openContained(root.folder, parts, create).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
  }
}

/** A number may be given to another folder when the first is gone; the time of birth tells them apart. */
async function identityOf(folder: string): Promise<string> {
  let found = await stat(folder, { bigint: true }).catch(ignoreMissing);
  if (found === undefined) {
    await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
    found = await stat(folder, { bigint: true });
  }
  if (found.birthtimeNs === found.ctimeNs) {
    // Just made; or the file system knows no time of birth, and gives that of the last change, which this moves.
    await chmod(folder, Number(found.mode) & MODE_BITS);
    found = await stat(folder, { bigint: true });
  }
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  return [dev, ino, birthtimeNs === ctimeNs ? 0 : birthtimeNs].join(":");
}

/** The files of a workspace on this machine. */
export class LocalFolders {
  readonly #folders: RootFolders;
  readonly #limits: Limits;

  constructor(roots: readonly Root[], limits: Limits) {
    this.#folders = new RootFolders(roots);
    this.#limits = limits;
  }

  /** Which folders the roots are, by their names. */
  identities(): Promise<Record<string, string>> {
    return this.#folders.identities();
  }

  /**
   * Lists all files. Those whose signature is as it was known are not read again.
   *
   * @throws CemError `WORKSPACE_FULL`
   */
  scan(salt: string, known: ReadonlyMap<string, LocalFile>): Promise<Scanned> {
    return scanFolders({ folders: this.#folders, limits: this.#limits, salt, known });
  }

  /**
   * Reads a file piece by piece, each into a buffer of its own.
   *
   * @returns its signature, where it is sure.
   * @throws ChangedMeanwhile
   */
  async read(path: string, take: (piece: Buffer) => void | Promise<void>): Promise<string | undefined> {
    await using folder = await this.#folders.open(parentOf(path));
    await using handle = folder && (await openFile(folder.child(nameOf(path))));
    if (handle === undefined) throw new ChangedMeanwhile(path);
    const before = await handle.stat({ bigint: true });
    const openedMs = Date.now();
    for await (const piece of piecesOf(handle, Number(before.size))) await take(piece);
    const after = signatureOf(await handle.stat({ bigint: true }));
    return after === signatureOf(before) && isSettled(before, openedMs) ? after : undefined;
  }

  /**
   * Puts a file in place, as a whole.
   *
   * @param expected - What is there.
   * @throws ChangedMeanwhile
   */
  async write(
    path: string,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    expected: LocalFile | undefined,
  ): Promise<string | undefined> {
    await using folder = await this.#folders.make(parentOf(path));
    const temporary = folder.child(`.cem-${randomBytes(8).toString("hex")}.tmp`);
    try {
      await using handle = await open(temporary, "wx", PRIVATE_FILE);
      for await (const piece of pieces) await handle.writeFile(piece);
      const written = await handle.stat({ bigint: true });
      const target = folder.child(nameOf(path));
      await this.#clear(folder, path, expected);
      await rename(temporary, target);
      const found = await lstat(target, { bigint: true });
      // The file was there before under a name that nobody could guess, so nobody else has written it.
      return found.ino === written.ino && isSettled(found, Date.now()) ? signatureOf(found) : undefined;
    } finally {
      await rm(temporary, { force: true });
    }
  }

  /** Gives a file another name. @throws ChangedMeanwhile */
  async move(from: string, to: string, expected: LocalFile): Promise<void> {
    await using folder = await this.#folders.make(parentOf(from));
    await this.#expect(folder, from, expected);
    await rename(folder.child(nameOf(from)), folder.child(nameOf(to)));
  }

  /** Removes a file, and the folders that are empty then. @throws ChangedMeanwhile */
  async remove(path: string, expected: LocalFile): Promise<void> {
    {
      await using folder = await this.#folders.open(parentOf(path));
      if (folder === undefined) return;
      await this.#expect(folder, path, expected);
      await unlink(folder.child(nameOf(path))).catch(ignoreMissing);
    }
    for (let parent = parentOf(path); parent.includes("/"); parent = parentOf(parent)) {
      await using above = await this.#folders.open(parentOf(parent));
      if (above === undefined) return;
      const isRemoved = await rmdir(above.child(nameOf(parent))).then(
        () => true,
        () => false,
      );
      if (!isRemoved) return;
    }
  }

  /** Removes all that is in the roots. */
  async clear(): Promise<void> {
    for (const { folder } of this.#folders.roots) {
      const names = await readdir(folder).catch(ignoreMissing);
      for (const name of names ?? [])
        await rm(`${folder}/${name}`, { recursive: true, force: true, maxRetries: 5 });
    }
  }

  /** Makes way for a file: what stands there and is none is not shared, and is not followed. */
  async #clear(folder: ContainedFolder, path: string, expected: LocalFile | undefined): Promise<void> {
    const target = folder.child(nameOf(path));
    const found = await lstat(target, { bigint: true }).catch(ignoreMissing);
    if (found?.isDirectory() === true)
      await rename(target, folder.child(nameOf(nameBeside(path, randomBytes(8).toString("hex")))));
    else if (found?.isFile() === true) await this.#expect(folder, path, expected);
    else if (expected !== undefined) throw new ChangedMeanwhile(path);
  }

  /** An unsure signature tells nothing: the content is read again. */
  async #expect(folder: ContainedFolder, path: string, expected: LocalFile | undefined): Promise<void> {
    const file = folder.child(nameOf(path));
    const found = await lstat(file, { bigint: true }).catch(ignoreMissing);
    const isAsExpected =
      expected !== undefined &&
      found?.isFile() === true &&
      Number(found.size) === expected.size &&
      (expected.signature === undefined || expected.signature === signatureOf(found));
    if (!isAsExpected) throw new ChangedMeanwhile(path);
  }
}
