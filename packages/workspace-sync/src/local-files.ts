import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import type { BigIntStats } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir, stat, unlink } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { isTemporaryFile, PRIVATE_FILE, PRIVATE_FOLDER } from "@cem/files";
import { NotAFolder, openContained } from "@cem/workspace";
import type { ContainedFolder } from "@cem/workspace";
import pMap from "p-map";
import { tooManyFiles } from "./errors.ts";
import type { Limits } from "./errors.ts";
import { digestPiece, PIECE_BYTES } from "./file-entry.ts";
import type { FileEntry } from "./file-entry.ts";
import { nameBeside, pathProblem } from "./file-path.ts";

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
const STATS_AT_ONCE = 32;
const MODE_BITS = 0o7777;
/** A file that was changed so shortly before it was read may be changed again without its time telling. */
const UNSURE_MS = 100;
/** What the state store and session logs call a file until it is renamed. */
const UNFINISHED = /^\..*\.[0-9a-f]{12}\.tmp$|\.[0-9a-f]{12}\.new$/;

/** A folder of this machine that is kept in step, and the name that its files' paths begin with. */
export interface Root {
  name: string;
  folder: string;
}

/** A file of this machine. */
export interface LocalFile extends FileEntry {
  /** Of the file's inode, size and times. Absent where they may stay the same when the content changes. */
  signature?: string | undefined;
}

export type LocalFiles = Map<string, LocalFile>;

/** What was found on this machine. */
export interface Scanned {
  files: LocalFiles;
  /** Files that can't be shared, and why. */
  left: string[];
}

/** Thrown when a file was changed since it was looked at. */
export class ChangedMeanwhile extends Error {}

/** The files of a workspace on this machine, where hostile code may have put anything. Links are not followed. */
export class LocalFolders {
  readonly roots: readonly Root[];
  readonly #limits: Limits;

  constructor(roots: readonly Root[], limits: Limits) {
    this.roots = roots;
    this.#limits = limits;
  }

  /** Which folders the roots are, so that one that was removed and made anew is not taken for one that was emptied. */
  async identities(): Promise<Record<string, string>> {
    const found = await Promise.all(
      this.roots.map(async ({ name, folder }) => {
        await mkdir(folder, { recursive: true, mode: PRIVATE_FOLDER });
        return [name, await identityOf(folder)] as const;
      }),
    );
    return Object.fromEntries(found);
  }

  /**
   * Lists all files. Those whose signature is as it was known are not read again.
   *
   * @throws CemError `WORKSPACE_FULL`
   */
  async scan(salt: string, known: ReadonlyMap<string, LocalFile>): Promise<Scanned> {
    const result: Scanned = { files: new Map(), left: [] };
    let [entries, bytes] = [0, 0];
    const pending = this.roots.map(({ name }) => name);
    for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
      const prefix = path;
      await using folder = await this.#openFolder(prefix);
      if (folder === undefined) continue;
      const names = await readdir(folder.child("."));
      entries += names.length;
      if (entries > this.#limits.maxFiles) throw tooManyFiles(entries, bytes, this.#limits);
      await pMap(
        names,
        async (name) => {
          if (isTemporaryFile(name) || UNFINISHED.test(name)) return;
          const found = await lstat(folder.child(name), { bigint: true }).catch(ignoreMissing);
          const child = `${prefix}/${name}`;
          const problem = pathProblem(child);
          if (problem !== undefined && (found === undefined || found.isFile() || found.isDirectory()))
            result.left.push(`${JSON.stringify(child.slice(0, 200))}: ${problem}`);
          else if (found?.isDirectory() === true) pending.push(child);
          else if (found?.isFile() === true) {
            bytes += Number(found.size);
            if (bytes > this.#limits.maxBytes) throw tooManyFiles(entries, bytes, this.#limits);
            const before = known.get(child);
            const isKnown = before?.signature !== undefined && before.signature === signatureOf(found);
            const file = isKnown ? before : await digestFile(folder.child(name), salt);
            if (file !== undefined) result.files.set(child, file);
          }
        },
        { concurrency: STATS_AT_ONCE },
      );
    }
    return result;
  }

  /**
   * Reads a file piece by piece, each into a buffer of its own.
   *
   * @returns its signature, where it is sure.
   * @throws ChangedMeanwhile
   */
  async read(path: string, take: (piece: Buffer) => void | Promise<void>): Promise<string | undefined> {
    await using folder = await this.#openFolder(parentOf(path));
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
    await using folder = await this.#makeFolder(parentOf(path));
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
    await using folder = await this.#makeFolder(parentOf(from));
    await this.#expect(folder, from, expected);
    await rename(folder.child(nameOf(from)), folder.child(nameOf(to)));
  }

  /** Removes a file, and the folders that are empty then. @throws ChangedMeanwhile */
  async remove(path: string, expected: LocalFile): Promise<void> {
    {
      await using folder = await this.#openFolder(parentOf(path));
      if (folder === undefined) return;
      await this.#expect(folder, path, expected);
      await unlink(folder.child(nameOf(path))).catch(ignoreMissing);
    }
    for (let parent = parentOf(path); parent.includes("/"); parent = parentOf(parent)) {
      await using above = await this.#openFolder(parentOf(parent));
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
    for (const { folder } of this.roots) {
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

  #openFolder(path: string): Promise<ContainedFolder | undefined> {
    return this.#open(path, false).catch((error: unknown) => {
      if (error instanceof NotAFolder) return undefined;
      throw error;
    });
  }

  /** Removes links that stand in the way of a shared file's folders. */
  async #makeFolder(path: string): Promise<ContainedFolder> {
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
      await using above = await this.#openFolder(parentOf(part));
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
  let found = await stat(folder, { bigint: true });
  if (found.birthtimeNs === found.ctimeNs) {
    // Just made; or the file system knows no time of birth, and gives that of the last change, which this moves.
    await chmod(folder, Number(found.mode) & MODE_BITS);
    found = await stat(folder, { bigint: true });
  }
  const { dev, ino, birthtimeNs, ctimeNs } = found;
  return [dev, ino, birthtimeNs === ctimeNs ? 0 : birthtimeNs].join(":");
}

async function digestFile(file: string, salt: string): Promise<LocalFile | undefined> {
  await using handle = await openFile(file);
  if (handle === undefined) return undefined;
  const before = await handle.stat({ bigint: true });
  const openedMs = Date.now();
  const pieces: string[] = [];
  let size = 0;
  for await (const piece of piecesOf(handle, Number(before.size))) {
    pieces.push(digestPiece(salt, piece));
    size += piece.length;
  }
  return { size, pieces, signature: isSettled(before, openedMs) ? signatureOf(before) : undefined };
}

async function* piecesOf(handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; at += PIECE_BYTES) {
    const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, size - at));
    let read = 0;
    while (read < piece.length) {
      const { bytesRead } = await handle.read(piece, read, piece.length - read, at + read);
      if (bytesRead === 0) break;
      read += bytesRead;
    }
    if (read > 0) yield piece.subarray(0, read);
    // Cut off meanwhile.
    if (read < piece.length) return;
  }
}

/** Without O_NONBLOCK a named pipe that guest code put there would block. */
async function openFile(file: string): Promise<FileHandle | undefined> {
  const handle = await open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT" && error.code !== "ELOOP") throw error;
      return undefined;
    },
  );
  if (handle === undefined || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return undefined;
}

function signatureOf({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [ino, size, mtimeNs, ctimeNs].join(".");
}

/** Whether a change after this moment would show in the file's times, which nobody in the sandbox can set. */
function isSettled({ ctimeMs }: BigIntStats, atMs: number): boolean {
  return Number(ctimeMs) < atMs - UNSURE_MS;
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
