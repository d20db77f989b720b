import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { readdir, rename, rmdir, unlink } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { NotAFolder, openShut, type ContainedFolder } from "./contained-files.ts";
import { ignoreMissing } from "./write-files.ts";

const PARALLEL = 16;
const RETRIES = 40;
const RETRY_MS = 25;
/** Failures that pass: another process has a file open, or a program adds files and swaps one for a folder meanwhile. */
const PASSING = new Set("EBUSY EMFILE ENFILE EPERM ENOTEMPTY EISDIR ENOTDIR ELOOP".split(" "));
/** Failures to move a folder on which something is mounted, or which overlayfs has from a layer below. */
const UNMOVABLE = new Set(["EBUSY", "EXDEV"]);

/**
 * Removes a folder in which a program did anything: denied access, made paths too long, or still creates files and swaps
 * folders for links. No link is followed.
 */
export async function removeFolder(folder: string): Promise<void> {
  for (let retry = 1; ; retry += 1) {
    try {
      return await removeOnce(folder);
    } catch (error) {
      const { code = "" } = (error instanceof NotAFolder ? error.cause : error) as NodeJS.ErrnoException;
      if (retry > RETRIES || !PASSING.has(code)) throw withPath(error, folder);
    }
    await sleep(RETRY_MS * retry);
  }
}

async function removeOnce(folder: string): Promise<void> {
  {
    await using top = openIfFolder(folder);
    if (top === undefined) return unlink(folder).catch(ignoreMissing);
    for (let found = await listIn(top); found.length > 0; found = await listIn(top))
      await each(found, ({ name }) => removeFrom(top, name));
  }
  await rmdir(folder).catch(ignoreMissing);
}

/** `undefined` if it is missing, a file or a link. */
function openIfFolder(folder: string): ContainedFolder | undefined {
  try {
    return openShut(folder);
  } catch (error) {
    if (error instanceof NotAFolder) return undefined;
    throw error;
  }
}

/** Removes a file or folder. The folders in it are moved to the top: out of a program's reach, where no path gets too long. */
async function removeFrom(top: ContainedFolder, name: string): Promise<void> {
  const place = top.child(name);
  {
    await using folder = openIfFolder(place);
    if (folder === undefined) return unlink(place).catch(ignoreMissing);
    await each(await listIn(folder), async ({ name: within, isFolder }) => {
      const below = folder.child(within);
      if (!isFolder) return unlink(below).catch(ignoreMissing);
      // Moving takes its owner's access, too.
      await openShut(below)?.[Symbol.asyncDispose]();
      await rename(below, top.child(newName())).catch((error: NodeJS.ErrnoException) =>
        UNMOVABLE.has(error.code ?? "") ? removeOnce(below) : ignoreMissing(error),
      );
    });
  }
  await rmdir(place).catch(ignoreMissing);
}

const newName = (): string => randomBytes(8).toString("hex");

/** Lists a folder. A name that is no text is replaced, since no path in text would reach it. */
async function listIn(folder: ContainedFolder): Promise<{ name: string; isFolder: boolean }[]> {
  const found = await readdir(folder.child(""), { withFileTypes: true, encoding: "buffer" });
  const list = found.map(async (entry) => {
    const isText = isUtf8(entry.name);
    const name = isText ? entry.name.toString() : newName();
    const bytes = Buffer.concat([Buffer.from(folder.child("") + path.sep), entry.name]);
    if (!isText) await rename(bytes, folder.child(name)).catch(ignoreMissing);
    return { name, isFolder: entry.isDirectory() };
  });
  return await Promise.all(list);
}

/** Names the top folder in an error in place of a descriptor, which may be that of a folder in it. */
function withPath(error: unknown, folder: string): unknown {
  if (error instanceof Error)
    error.message = error.message.replace(/\/proc\/self\/fd\/\d+/, path.join(folder, "…"));
  return error;
}

/** Ends only when all are done, since a descriptor in use must stay open. @throws the first failure */
async function each<Item>(items: readonly Item[], action: (item: Item) => Promise<void>): Promise<void> {
  const failures: unknown[] = [];
  for (let index = 0; index < items.length; index += PARALLEL) {
    const done = await Promise.allSettled(items.slice(index, index + PARALLEL).map(action));
    failures.push(...done.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : [])));
  }
  if (failures.length > 0) throw failures[0];
}
