import { randomBytes } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import path from "node:path";
import { makeFolder } from "./make-folder.ts";

/** The mode of a file that only its owner may read. */
export const PRIVATE_FILE = 0o600;
/** The mode of a folder that only its owner may enter. */
export const PRIVATE_FOLDER = 0o700;

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
  if (makeFolders) await makeFolder(folder, PRIVATE_FOLDER);
  const handle = await open(temporary, "wx", mode);
  try {
    await handle.writeFile(content);
    // Whatever the process's umask is.
    await handle.chmod(mode);
    if (durable) await handle.sync();
    await handle.close();
    await rename(temporary, file);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
  if (durable) await syncFolder(folder);
}

/** Keeps the new name over a loss of power. Not every system can open a folder. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}

/** Whether a name is one that {@link replaceFile} gives a file until it is renamed. */
export function isTemporaryFile(name: string): boolean {
  return TEMPORARY_FILE.test(name);
}
