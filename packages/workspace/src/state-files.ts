import { randomBytes } from "node:crypto";
import { link, rename } from "node:fs/promises";
import { CemError } from "@cem/core";
import { readContained, UnusableFile } from "./contained-file.ts";
import { NotAFolder, openContained } from "./contained-folder.ts";
import type { ContainedFolder } from "./contained-folder.ts";
import { formatOf, largestOf } from "./state-format.ts";
import { invalidStatePath } from "./state-path.ts";
import type { StatePath } from "./state-path.ts";

/** The files of a workspace that keep state. */
export class StateFiles {
  readonly #workspaceDir: string;
  readonly #maxBytes: number;

  constructor(workspaceDir: string, maxBytes: number) {
    this.#workspaceDir = workspaceDir;
    this.#maxBytes = maxBytes;
  }

  /** Reads a file; `undefined` where there is none. */
  async read(
    folder: ContainedFolder,
    statePath: StatePath,
    signal?: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    try {
      return await readContained(folder, statePath.name, {
        signal,
        check: (bytes) => this.requireSize(statePath, bytes),
      });
    } catch (error) {
      if (error instanceof UnusableFile) throw invalidStatePath(statePath.guestPath, error.message, error);
      throw error;
    }
  }

  /** Opens the folder of a file; `undefined` where there is none and none is to be made. */
  async open(statePath: StatePath, create: boolean): Promise<ContainedFolder | undefined> {
    try {
      return await openContained(this.#workspaceDir, statePath.folders, create);
    } catch (error) {
      if (error instanceof NotAFolder) {
        throw invalidStatePath(statePath.guestPath, "a folder on its path is a link or a file", error);
      }
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (missing && !create) return undefined;
      throw error;
    }
  }

  /** @throws CemError `STATE_TOO_LARGE` */
  requireSize(statePath: StatePath, bytes: number): void {
    const limitBytes = largestOf(formatOf(statePath.name) ?? "json", this.#maxBytes);
    if (bytes <= limitBytes) return;
    throw new CemError(
      "STATE_TOO_LARGE",
      `${statePath.guestPath} has ${bytes} bytes; the limit is ${limitBytes}. Large data belongs in separate files in /workspace.`,
      { details: { file: statePath.guestPath, bytes, limitBytes } },
    );
  }
}

/** Keeps a broken file under another name. The file itself stays until it is replaced, where the file system allows. */
export async function keepAside(folder: ContainedFolder, { name, guestPath }: StatePath): Promise<string> {
  const ending = name.slice(name.lastIndexOf("."));
  const aside = `${name.slice(0, -ending.length)}.broken-${randomBytes(4).toString("hex")}${ending}`;
  const [from, to] = [folder.child(name), folder.child(aside)];
  await link(from, to).catch(() => rename(from, to));
  return guestPath.slice(0, -name.length) + aside;
}
