import { constants } from "node:fs";
import { cp, lstat, mkdir, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import type * as ConfigPackage from "@cem/config";
import { CemError } from "@cem/core";
import { entriesIn } from "./folder-changes.ts";
import type { Entries } from "./folder-changes.ts";

const BYTES_PER_MB = 1024 * 1024;

type Places = Pick<typeof ConfigPackage, "isWithin" | "realPath">;

/** A place of the host and the copy that a dry run has in place of it. */
export interface ScratchCopy {
  original: string;
  copy: string;
  /** The copy as it was made. */
  before: Entries;
}

/** Copies of places that a run may write to. A place within one that is copied already is its part. */
export class ScratchCopies {
  readonly folder: string;
  readonly made: ScratchCopy[] = [];
  readonly #limits: ConfigPackage.Config["execution"]["limits"];
  readonly #places: Places;

  private constructor(folder: string, limits: ConfigPackage.Config["execution"]["limits"], places: Places) {
    this.folder = folder;
    this.#limits = limits;
    this.#places = places;
  }

  /** Opens an empty folder for copies that hold at most what a workspace may. */
  static async open(limits: ConfigPackage.Config["execution"]["limits"]): Promise<ScratchCopies> {
    const places = await import("@cem/config");
    const folder = await mkdtemp(path.join(os.tmpdir(), "cem-dry-run-"));
    return new ScratchCopies(folder, limits, places);
  }

  /** The part of a copy that stands for a place. `undefined` where the place is in none. */
  find(place: string): string | undefined {
    const real = this.#places.realPath(place);
    const found = this.made.find(({ original }) => this.#places.isWithin(original, real));
    return found && path.join(found.copy, path.relative(found.original, real));
  }

  /**
   * Copies a place, with links as links. A folder that is not there is empty.
   *
   * @throws CemError `WORKSPACE_FULL` where it holds more than a workspace may, or `WORKSPACE_UNUSABLE`.
   */
  async copyOf(place: string): Promise<string> {
    const found = this.find(place);
    if (found !== undefined) return found;
    const original = this.#places.realPath(place);
    const copy = path.join(this.folder, String(this.made.length), path.basename(original));
    await mkdir(path.dirname(copy));
    const left = {
      entries: this.#limits.maxWorkspaceEntries,
      bytes: this.#limits.maxWorkspaceMb * BYTES_PER_MB,
    };
    const filter = async (source: string): Promise<boolean> => {
      const status = await lstat(source);
      left.entries -= 1;
      left.bytes -= status.size;
      if (left.entries < 0 || left.bytes < 0) throw this.#tooLarge(place);
      return status.isFile() || status.isDirectory() || status.isSymbolicLink();
    };
    try {
      const mode = constants.COPYFILE_FICLONE;
      await cp(original, copy, { recursive: true, verbatimSymlinks: true, mode, filter });
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw uncopied(place, error);
      await mkdir(copy, { recursive: true });
    }
    this.made.push({ original, copy, before: await entriesIn(copy) });
    return copy;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  #tooLarge(place: string): CemError {
    const { maxWorkspaceMb: mb, maxWorkspaceEntries: entries } = this.#limits;
    const message = `${place} holds more than ${mb} MiB or ${entries} files, and a dry run has to copy it.`;
    return new CemError("WORKSPACE_FULL", message, { details: { folder: place } });
  }
}

function uncopied(place: string, error: unknown): CemError {
  const reason = error instanceof Error ? error.message : String(error);
  const message = `${place} can't be copied for a dry run: ${reason}`;
  return new CemError("WORKSPACE_UNUSABLE", message, { details: { folder: place }, cause: error });
}
