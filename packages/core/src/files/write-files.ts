import {
  mkdirSync,
  readFileSync,
  statSync,
  closeSync,
  fchmodSync,
  fsync,
  openSync,
  renameSync,
  rmSync,
  writeFile as writeFileLater,
  writeFileSync,
  constants,
  fstatSync,
} from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { randomBytes } from "node:crypto";
import { promisify } from "node:util";

/** Opens a file for `await using`. Yarn's Plug'n'Play has its own handles, which only support `close`. */
export async function openHandle(...file: Parameters<typeof open>): Promise<FileHandle> {
  const handle = await open(...file);
  handle[Symbol.asyncDispose] ??= () => handle.close();
  return handle;
}

/**
 * Creates a folder and its parents; true when it did not exist. Node's own `recursive` never returns where the file
 * system refuses to create anything, as under /proc.
 *
 * @param mode - The mode of the created folders.
 * @throws the file system's error; `EEXIST` or `ENOTDIR` when a file is in the way.
 */
export function makeFolder(folder: string, mode?: number): boolean {
  if (isFolder(folder)) return false;
  const parent = path.dirname(folder);
  if (parent !== folder) makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
    return true;
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(folder)) return false;
    throw error;
  }
}

function isFolder(folder: string): boolean {
  try {
    return statSync(folder).isDirectory();
  } catch {
    return false;
  }
}

/** The mode of a file that only its owner may read. */
export const PRIVATE_FILE = 0o600;
/** The mode of a folder that only its owner may enter. */
export const PRIVATE_FOLDER = 0o700;

/** Up to this many bytes are read or written synchronously: dispatching to another thread would take longer. */
export const AT_ONCE_BYTES = 131_072;
const TEMPORARY_FILE = /^\.cem-[0-9a-f]{16}\.tmp$/;

export interface ReplaceOptions {
  /**
   * The mode of the file.
   *
   * @defaultValue {@link PRIVATE_FILE}
   */
  mode?: number | undefined;
  /**
   * Whether to create its parent folders, which only their owner may enter.
   *
   * @defaultValue true
   */
  makeFolders?: boolean | undefined;
  /**
   * Whether to wait until it is on disk, so that it survives a power loss.
   *
   * @defaultValue false
   */
  durable?: boolean | undefined;
}

/**
 * Replaces a file atomically. It is written under an unpredictable name and renamed, so that readers see either the old
 * or the new content. A link at the file's path is replaced, not followed. The library write-file-atomic follows links
 * and uses predictable names for temporary files.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode = PRIVATE_FILE, makeFolders = true, durable = false }: ReplaceOptions = {},
): Promise<void> {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.cem-${randomBytes(8).toString("hex")}.tmp`);
  if (makeFolders) makeFolder(folder, PRIVATE_FOLDER);
  const descriptor = openSync(temporary, "wx", mode);
  try {
    try {
      await writeTo(descriptor, content, durable);
      // Independent of the process's umask.
      fchmodSync(descriptor, mode);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, file);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  if (durable) await syncFolder(folder);
}

/** Writes a new file by its descriptor. @param isDurable - Whether to wait until it is on disk. */
export async function writeTo(
  descriptor: number,
  content: string | Uint8Array,
  isDurable: boolean,
): Promise<void> {
  if (content.length <= AT_ONCE_BYTES) writeFileSync(descriptor, content);
  else await promisify(writeFileLater)(descriptor, content);
  if (isDurable) await promisify(fsync)(descriptor);
}

/** Makes the new name survive a power loss. Not every system can open a folder. */
async function syncFolder(folder: string): Promise<void> {
  let descriptor: number;
  try {
    descriptor = openSync(folder, "r");
  } catch {
    return;
  }
  await promisify(fsync)(descriptor).catch(() => undefined);
  closeSync(descriptor);
}

/** The text of a file, read synchronously; `undefined` when it can't be read. */
export function textOfFile(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}

/** Handles the error of a missing file or folder: returns `undefined`. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

/** Whether a name is one of {@link replaceFile}'s temporary names. */
export function isTemporaryFile(name: string): boolean {
  return TEMPORARY_FILE.test(name);
}

// A flag that the system lacks is undefined, which counts as 0 below.
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

/** Opens a file for reading, without following a link or waiting at a named pipe. Check that it is a regular file. */
export function openUnfollowed(file: string): Promise<FileHandle> {
  return openHandle(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

/**
 * Opens a file for appending, readable only by its owner from then on, and creates its parent folders.
 *
 * @returns its file descriptor.
 * @throws the file system's error; `ELOOP` for a link, and `EINVAL` for anything but a regular file.
 */
export function openForAppending(file: string): number {
  makeFolder(path.dirname(file), PRIVATE_FOLDER);
  // Non-blocking: opening a pipe without a reader would block.
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, PRIVATE_FILE);
  try {
    const found = fstatSync(descriptor);
    if (!found.isFile())
      throw Object.assign(new Error(`EINVAL: not a regular file, open '${file}'`), { code: "EINVAL" });
    const { mode, uid } = found;
    // Only the owner of a file can change its mode.
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) fchmodSync(descriptor, PRIVATE_FILE);
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

/**
 * Appends to a file that only its owner may read.
 *
 * @throws as {@link openForAppending}.
 */
export function appendPrivately(file: string, content: string | Uint8Array): void {
  const descriptor = openForAppending(file);
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/** Whether a real path is a folder or lies in it. */
export function isWithin(folder: string, place: string): boolean {
  const way = path.relative(folder, place);
  return way === "" || (!path.isAbsolute(way) && !/^\.\.(?:[\\/]|$)/u.test(way));
}
