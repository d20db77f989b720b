import { constants, existsSync } from "node:fs";
import { lstat, mkdir, open, realpath } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import path from "node:path";

const OPEN_FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Where the kernel names open files, a name below an open folder can't be swapped for a link behind our back. */
const OPEN_FILES = "/proc/self/fd";
const HAS_OPEN_FILES = existsSync(OPEN_FILES);

/** A link, or something that is no folder, stands where a folder of the path should be. */
export class NotAFolder extends Error {}

/** A folder below a root, held open so that it stays the same while its files are used. */
export interface ContainedFolder extends AsyncDisposable {
  /** The path to use for a file in it. The file itself may still be a link: open it with `O_NOFOLLOW`. */
  child(name: string): string;
  /** Makes what was renamed in it durable. */
  sync(): Promise<void>;
}

/**
 * Opens a folder below a root without following links, which code in a sandbox may have planted.
 * `undefined` when it does not exist and `create` is off.
 *
 * @throws NotAFolder
 */
export async function openContained(
  root: string,
  parts: readonly string[],
  create: boolean,
): Promise<ContainedFolder | undefined> {
  const { O_RDONLY, O_DIRECTORY } = constants;
  let folder = await realpath(root);
  let handle = await open(folder, O_RDONLY | O_DIRECTORY);
  try {
    for (const part of parts) {
      folder = path.join(HAS_OPEN_FILES ? `${OPEN_FILES}/${handle.fd}` : folder, part);
      if (create) await makeFolder(folder);
      const next = await openFolder(folder);
      if (next === undefined) {
        await handle.close();
        return undefined;
      }
      await handle.close();
      handle = next;
    }
  } catch (error) {
    await handle.close();
    throw error;
  }
  const base = HAS_OPEN_FILES ? `${OPEN_FILES}/${handle.fd}` : folder;
  return {
    child: (name) => path.join(base, name),
    sync: () => handle.sync(),
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}

async function openFolder(folder: string): Promise<FileHandle | undefined> {
  try {
    // Some systems follow the link all the same when only O_DIRECTORY is looked at.
    if (!HAS_OPEN_FILES && (await lstat(folder)).isSymbolicLink()) throw new NotAFolder(folder);
    return await open(folder, OPEN_FOLDER);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP" || code === "ENOTDIR") throw new NotAFolder(folder, { cause: error });
    throw error;
  }
}
