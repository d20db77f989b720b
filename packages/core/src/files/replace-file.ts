import { randomBytes } from "node:crypto";
import {
  closeSync,
  fchmodSync,
  fsync,
  openSync,
  renameSync,
  rmSync,
  writeFile as writeFileLater,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { makeFolderSync } from "./make-folder.ts";

/** The mode of a file that only its owner may read. */
export const PRIVATE_FILE = 0o600;
/** The mode of a folder that only its owner may enter. */
export const PRIVATE_FOLDER = 0o700;

/** Up to so many bytes are read or written at once: handing each step to another thread takes longer than the step. */
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
   * Whether to make the folders above it, which only their owner may enter.
   *
   * @defaultValue true
   */
  makeFolders?: boolean | undefined;
  /**
   * Whether to wait until the disk has it, so that it is there after a loss of power, too.
   *
   * @defaultValue false
   */
  durable?: boolean | undefined;
}

/**
 * Replaces a file atomically. It is written under a name that can't be guessed and renamed, so that a reader finds the old or the new content, and a link of the file's name is
 * replaced, not followed. The library write-file-atomic follows links and opens its temporary files under predictable names.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode = PRIVATE_FILE, makeFolders = true, durable = false }: ReplaceOptions = {},
): Promise<void> {
  const folder = path.dirname(file);
  const temporary = path.join(folder, `.cem-${randomBytes(8).toString("hex")}.tmp`);
  if (makeFolders) makeFolderSync(folder, PRIVATE_FOLDER);
  const descriptor = openSync(temporary, "wx", mode);
  try {
    try {
      await writeTo(descriptor, content, durable);
      // Whatever the process's umask is.
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

/** Writes a new file by its descriptor. @param isDurable - Whether to wait until the disk has it. */
export async function writeTo(
  descriptor: number,
  content: string | Uint8Array,
  isDurable: boolean,
): Promise<void> {
  if (content.length <= AT_ONCE_BYTES) writeFileSync(descriptor, content);
  else await promisify(writeFileLater)(descriptor, content);
  if (isDurable) await promisify(fsync)(descriptor);
}

/** Keeps the new name over a loss of power. Not every system can open a folder. */
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

/** Catches the error of a file or folder that is not there: what was asked of it is `undefined`. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT" && error.code !== "ENOTDIR") throw error;
}

/** Whether a name is one that {@link replaceFile} gives a file until it is renamed. */
export function isTemporaryFile(name: string): boolean {
  return TEMPORARY_FILE.test(name);
}
