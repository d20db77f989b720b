import { lstatSync, readdirSync } from "node:fs";
import type { BigIntStats } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isTemporaryFile } from "@cem/core/files";
import { NotAFolder } from "../files/contained-files.ts";
import type { ContainedFolder } from "../files/contained-files.ts";
import pMap from "p-map";
import { tooManyFiles } from "./blobs.ts";
import type { Limits } from "./blobs.ts";
import { digestFile, pathProblem, signatureOf } from "./file-content.ts";
import type { LocalFile, LocalFiles } from "./file-content.ts";
import type { RootFolders } from "./local-folders.ts";

/** Asked at once, which takes a tenth of the time of asking for each by itself. Others have their turn between. */
const STATS_AT_ONCE = 64;
const DIGESTS_AT_ONCE = 8;
/** What the state store and session logs call a file until it is renamed. */
const UNFINISHED = /^\..*\.[0-9a-f]{12}\.tmp$|\.[0-9a-f]{12}\.new$/;
const MAX_SHOWN_PATH = 200;

/** What was found on this machine. */
export interface Scanned {
  files: LocalFiles;
  /** Files that can't be shared, and why. */
  left: string[];
}

/** Settings of {@link scanFolders}. */
export interface ScanSettings {
  folders: RootFolders;
  limits: Limits;
  salt: string;
  /** Of those whose signature is as it was known the content is not read again. */
  known: ReadonlyMap<string, LocalFile>;
}

/**
 * Lists all files.
 *
 * @throws CemError `WORKSPACE_FULL`
 */
export async function scanFolders(settings: ScanSettings): Promise<Scanned> {
  const scan = new Scan(settings);
  for (const { name } of settings.folders.roots) {
    await using folder = await settings.folders.open(name);
    if (folder !== undefined) await scan.read(folder, name);
  }
  return scan.result;
}

class Scan {
  readonly result: Scanned = { files: new Map(), left: [] };
  readonly #settings: ScanSettings;
  #entries = 0;
  #bytes = 0;

  constructor(settings: ScanSettings) {
    this.#settings = settings;
  }

  async read(folder: ContainedFolder, path: string): Promise<void> {
    const names = readdirSync(folder.child("."));
    this.#count(names.length, 0);
    const [folders, unknown]: [string[], string[]] = [[], []];
    for (let at = 0; at < names.length; at += STATS_AT_ONCE) {
      if (at > 0) await nextTurn();
      for (const name of names.slice(at, at + STATS_AT_ONCE)) {
        if (isTemporaryFile(name) || UNFINISHED.test(name)) continue;
        const found = lstatSync(folder.child(name), { bigint: true, throwIfNoEntry: false });
        const child = `${path}/${name}`;
        const problem = pathProblem(child);
        if (problem !== undefined) this.#leave(child, problem, found);
        else if (found?.isDirectory() === true) folders.push(name);
        else if (found?.isFile() === true && !this.#take(child, found)) unknown.push(name);
      }
    }
    await pMap(unknown, (name) => this.#digest(folder, path, name), { concurrency: DIGESTS_AT_ONCE });
    for (const name of folders) {
      await using inner = await folder.open(name).catch(ignoreReplaced);
      if (inner !== undefined) await this.read(inner, `${path}/${name}`);
    }
  }

  /** @returns whether its content is known. */
  #take(path: string, found: BigIntStats): boolean {
    this.#count(0, Number(found.size));
    const before = this.#settings.known.get(path);
    if (before?.signature === undefined || before.signature !== signatureOf(found)) return false;
    this.result.files.set(path, before);
    return true;
  }

  async #digest(folder: ContainedFolder, path: string, name: string): Promise<void> {
    const file = await digestFile(folder.child(name), this.#settings.salt);
    if (file !== undefined) this.result.files.set(`${path}/${name}`, file);
  }

  #leave(path: string, problem: string, found: BigIntStats | undefined): void {
    if (found !== undefined && !found.isFile() && !found.isDirectory()) return;
    this.result.left.push(`${JSON.stringify(path.slice(0, MAX_SHOWN_PATH))}: ${problem}`);
  }

  #count(entries: number, bytes: number): void {
    const { limits } = this.#settings;
    this.#entries += entries;
    this.#bytes += bytes;
    if (this.#entries > limits.maxFiles || this.#bytes > limits.maxBytes)
      throw tooManyFiles(this.#entries, this.#bytes, limits);
  }
}

/** Hostile code put something else there meanwhile. */
function ignoreReplaced(error: unknown): undefined {
  if (!(error instanceof NotAFolder)) throw error;
}
