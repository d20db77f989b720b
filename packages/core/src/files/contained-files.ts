import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { AT_ONCE_BYTES, openUnfollowed, PRIVATE_FILE, PRIVATE_FOLDER, writeTo } from "./write-files.ts";

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
const DESCRIPTORS = "/proc/self/fd";
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);

/**
 * The path of an open file or folder by its descriptor: it stays valid even if a link takes its place meanwhile.
 *
 * @param place - Its path for systems that have no such paths.
 */
export function descriptorPath(descriptor: number, place: string): string {
  return HAS_DESCRIPTORS ? `${DESCRIPTORS}/${descriptor}` : place;
}

/** Linux's flag for a descriptor that needs no permission of the folder. Node has no constant for it. */
const O_PATH = HAS_DESCRIPTORS ? 0x20_0000 : O_RDONLY;
const MODE_BITS = 0o7777;
const UNFINISHED = /^[0-9a-f]{12}\.tmp$/;

/** Thrown if a part of the path is a link or otherwise not a folder. */
export class NotAFolder extends Error {}

/** A folder below a root, held open so that it stays the same folder while its files are used. */
export interface ContainedFolder extends AsyncDisposable {
  /** The host path of a file in the folder. The file itself may be a link: open it with `O_NOFOLLOW`. */
  child(name: string): string;
  /**
   * Opens a folder in this one. No link is followed.
   *
   * @returns `undefined` if it does not exist.
   * @throws NotAFolder
   */
  open(name: string): Promise<ContainedFolder | undefined>;
  /**
   * Writes a file atomically: other processes see the old content or the new, never a part.
   *
   * @param isDurable - Whether to wait until it is flushed to disk. Default: yes.
   */
  replace(name: string, bytes: Uint8Array, isDurable?: boolean): Promise<void>;
  /** Removes temporary files left by killed processes. */
  removeUnfinished(name: string): Promise<void>;
}

/**
 * Opens a folder below a root without following links, which guest code may have created.
 *
 * @param parts - The names of the folders in the path, each without a separator.
 * @param create - Whether to create missing folders.
 * @returns `undefined` if the folder does not exist and `create` is false.
 * @throws NotAFolder
 */
export async function openContained(
  root: string,
  parts: readonly string[],
  create: boolean,
): Promise<ContainedFolder | undefined> {
  let folder = realpathSync.native(root);
  let descriptor = openSync(folder, O_RDONLY | O_DIRECTORY);
  for (const part of parts) {
    const above = descriptor;
    try {
      folder = path.join(descriptorPath(above, folder), part);
      if (create) makePrivateFolder(folder);
      const next = openFolder(folder);
      if (next === undefined) return undefined;
      descriptor = next;
    } finally {
      closeSync(above);
    }
  }
  return hold(descriptor, folder);
}

/**
 * Opens a folder that guest code may have shut against its owner, and gives the owner access again. No link is followed.
 * Only the names in it can be used, not `replace`.
 *
 * @returns `undefined` if it does not exist.
 * @throws NotAFolder
 */
export function openShut(folder: string): ContainedFolder | undefined {
  // Opening takes access there. Guest code of such systems makes no links.
  if (!HAS_DESCRIPTORS) giveAccess(folder, lstatSync(folder, { throwIfNoEntry: false }));
  const descriptor = openFolder(folder, O_PATH);
  if (descriptor === undefined) return undefined;
  const held = hold(descriptor, folder);
  giveAccess(held.child(""), fstatSync(descriptor));
  return held;
}

function giveAccess(place: string, found: Stats | undefined): void {
  if (found?.isDirectory() !== true || (found.mode & PRIVATE_FOLDER) === PRIVATE_FOLDER) return;
  try {
    chmodSync(place, (found.mode & MODE_BITS) | PRIVATE_FOLDER);
  } catch {
    // It is another user's. The next use says what is missing.
  }
}

function hold(descriptor: number, folder: string): ContainedFolder {
  const base = descriptorPath(descriptor, folder);
  const child = (name: string): string => path.join(base, name);
  return {
    child,
    async open(name) {
      const next = openFolder(child(name));
      return next === undefined ? undefined : hold(next, child(name));
    },
    // write-file-atomic does not fit: it resolves the real path, which gives up the open folder, and opens a temporary
    // file of a predictable name, which guest code could have replaced by a link.
    async replace(name, bytes, isDurable = true) {
      const temporary = child(`.${name}.${randomBytes(6).toString("hex")}.tmp`);
      try {
        const file = openSync(temporary, "wx", PRIVATE_FILE);
        try {
          await writeTo(file, bytes, isDurable);
        } finally {
          closeSync(file);
        }
        renameSync(temporary, child(name));
      } catch (error) {
        rmSync(temporary, { force: true });
        throw error;
      }
      if (isDurable) await promisify(fsync)(descriptor);
    },
    async removeUnfinished(name) {
      for (const found of await readdir(base)) {
        const isOwn = found.startsWith(`.${name}.`) && UNFINISHED.test(found.slice(name.length + 2));
        if (isOwn) await rm(child(found), { force: true });
      }
    },
    [Symbol.asyncDispose]: async () => closeSync(descriptor),
  };
}

/** Creates a private folder if it is missing. */
export function makePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, PRIVATE_FOLDER);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function openFolder(folder: string, access: number = O_RDONLY): number | undefined {
  try {
    // Without descriptor paths, the system may follow a link despite O_NOFOLLOW.
    if (!HAS_DESCRIPTORS && lstatSync(folder).isSymbolicLink()) throw new NotAFolder(folder);
    return openSync(folder, access | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "ENOTDIR") throw new NotAFolder(folder, { cause: error });
    throw error;
  }
}

const readLater = promisify(read);

/** Fills a buffer from a position of a file on. @returns the bytes read: fewer at its end, since guest code may shorten it. */
export async function readAt(
  descriptor: number,
  buffer: Buffer,
  from: number,
  signal?: AbortSignal,
): Promise<number> {
  let done = 0;
  while (done < buffer.length) {
    signal?.throwIfAborted();
    const length = Math.min(PIECE_BYTES, buffer.length - done);
    const bytes =
      buffer.length <= AT_ONCE_BYTES
        ? readSync(descriptor, buffer, done, length, from + done)
        : (await readLater(descriptor, buffer, done, length, from + done)).bytesRead;
    if (bytes === 0) break;
    done += bytes;
  }
  return done;
}

const PIECE_BYTES = 1024 * 1024;

/** Thrown if the name is not a file. Its message follows "it can't be used:". */
export class UnusableFile extends Error {}

/**
 * Reads a file that guest code may have put there, or a part of it, without following a link.
 *
 * @param options - `check` gets the file's size and may throw.
 * @returns `undefined` if there is no file.
 * @throws UnusableFile
 */
export async function readContained(
  folder: ContainedFolder,
  name: string,
  options: {
    signal?: AbortSignal | undefined;
    check?: (bytes: number) => void;
    offset?: number;
    limit?: number;
  },
): Promise<{ bytes: Buffer; size: number } | undefined> {
  const { signal, check, offset = 0, limit = Infinity } = options;
  try {
    // Guest code may have created a named pipe.
    await using handle = await openUnfollowed(folder.child(name));
    const found = await handle.stat();
    if (!found.isFile()) throw new UnusableFile("it is not a regular file");
    check?.(found.size);
    const buffer = Buffer.alloc(Math.max(0, Math.min(limit, found.size - offset)));
    const bytesRead = await readAt(handle.fd, buffer, offset, signal);
    signal?.throwIfAborted();
    return { bytes: buffer.subarray(0, bytesRead), size: found.size };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw new UnusableFile("it is a link", { cause: error });
    throw error;
  }
}
