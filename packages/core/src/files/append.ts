import { closeSync, constants, fchmodSync, fstatSync, openSync, writeFileSync } from "node:fs";
import type { Stats } from "node:fs";
import path from "node:path";
import { makeFolderSync } from "./make-folder.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "./replace-file.ts";

// Where the system lacks one, it is undefined, which counts as 0 below.
const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/**
 * Opens a file to append to, which only its owner may read from then on, and makes the folders above it.
 *
 * @returns its file descriptor.
 * @throws the file system's error; `ELOOP` where it is a link, and `EINVAL` where it is no regular file.
 */
export function openForAppending(file: string): number {
  makeFolderSync(path.dirname(file), PRIVATE_FOLDER);
  // Without waiting, as opening a pipe that nobody reads would.
  const descriptor = openSync(file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, PRIVATE_FILE);
  try {
    const { mode, uid } = requireFile(descriptor, file);
    // Of another's file only that one can change the mode.
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

function requireFile(descriptor: number, file: string): Stats {
  const found = fstatSync(descriptor);
  if (found.isFile()) return found;
  throw Object.assign(new Error(`EINVAL: not a regular file, open '${file}'`), { code: "EINVAL" });
}
