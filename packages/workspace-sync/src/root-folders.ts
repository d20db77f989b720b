import { chmod, lstat, mkdir, stat, unlink } from "node:fs/promises";
import { PRIVATE_FOLDER } from "@cem/core/files";
import { NotAFolder, openContained } from "@cem/workspace";
import type { ContainedFolder } from "@cem/workspace";
import { ChangedMeanwhile, ignoreMissing } from "./file-content.ts";
import { nameOf, parentOf } from "./file-path.ts";

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
