import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { CemError } from "@cem/core";
import type { JsonValue, StateStore } from "@cem/core";
import { NotAFolder, openContained } from "./contained-folder.ts";
import type { ContainedFolder } from "./contained-folder.ts";
import { invalidStatePath, parseStatePath } from "./state-path.ts";
import type { StatePath } from "./state-path.ts";

const DEFAULT_STATE_FILE = "state.json";
const DEFAULT_MAX_STATE_BYTES = 64 * 1024 * 1024;
const INDENT = 2;

export interface StateStoreSettings {
  /** Absolute path on the host of what the guest sees as `/workspace`. Has to exist once something is saved. */
  workspaceDir: string;
  /** The file meant when none is named. Default: `state.json`. */
  stateFile?: string | undefined;
  /** The largest state file that is read or written, in bytes. Default: 64 MiB. */
  maxBytes?: number | undefined;
}

/**
 * State as JSON files in the workspace: what is saved here is what guest code reads there, and the other way round.
 *
 * A file is replaced whole or not at all, also when the process is killed in between, and whoever else saves at the
 * same time. No link in the workspace is followed. A broken file is never overwritten: saving moves it aside, to
 * `state.broken-….json`.
 */
export function createStateStore(settings: StateStoreSettings): StateStore {
  return new FileStateStore(settings);
}

class FileStateStore implements StateStore {
  readonly specificationVersion = "v1";
  readonly #workspaceDir: string;
  readonly #stateFile: string;
  readonly #maxBytes: number;
  /** The last save of each file that is under way: saves of one file happen in the order they were asked for. */
  readonly #saves = new Map<string, Promise<void>>();

  constructor({ workspaceDir, stateFile, maxBytes }: StateStoreSettings) {
    this.#workspaceDir = workspaceDir;
    this.#stateFile = stateFile ?? DEFAULT_STATE_FILE;
    this.#maxBytes = maxBytes ?? DEFAULT_MAX_STATE_BYTES;
  }

  async read(
    file: string = this.#stateFile,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<{ exists: boolean; data: JsonValue }> {
    signal?.throwIfAborted();
    const place = parseStatePath(file);
    await using folder = await this.#open(place, false);
    const text = folder && (await this.#readText(folder, place, signal));
    if (text === undefined) return { exists: false, data: {} };
    const parsed = parseJson(text);
    if (parsed.ok) return { exists: true, data: parsed.value };
    throw new CemError(
      "STATE_UNREADABLE",
      `${place.guestPath} is not valid JSON: ${parsed.fault}. It was left as it is: mend it, or save new state, which moves it aside first.`,
      { details: { file: place.guestPath } },
    );
  }

  async save(
    data: JsonValue,
    file: string = this.#stateFile,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<{ file: string }> {
    signal?.throwIfAborted();
    const place = parseStatePath(file);
    const bytes = Buffer.from(`${JSON.stringify(data, undefined, INDENT)}\n`);
    this.#requireSize(place, bytes.byteLength);
    const before = this.#saves.get(place.guestPath) ?? Promise.resolve();
    const done = before.catch(() => {}).then(() => this.#replace(place, bytes, signal));
    this.#saves.set(place.guestPath, done);
    try {
      await done;
    } finally {
      if (this.#saves.get(place.guestPath) === done) this.#saves.delete(place.guestPath);
    }
    return { file: place.guestPath };
  }

  async #replace(place: StatePath, bytes: Buffer, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await using folder = await this.#open(place, true);
    if (folder === undefined) throw invalidStatePath(place.guestPath, "its folder is gone");
    await this.#keepBroken(folder, place);
    const temporary = folder.child(`.${place.name}.${randomBytes(6).toString("hex")}.tmp`);
    try {
      await using handle = await open(temporary, "wx", 0o644);
      await handle.writeFile(bytes);
      await handle.sync();
      await rename(temporary, folder.child(place.name));
    } catch (error) {
      await rm(temporary, { force: true });
      if ((error as NodeJS.ErrnoException).code !== "EISDIR") throw error;
      throw invalidStatePath(place.guestPath, "there is a folder of that name", error);
    }
    await folder.sync();
  }

  /** Moves a file aside that holds something, and not JSON. */
  async #keepBroken(folder: ContainedFolder, place: StatePath): Promise<void> {
    const text = await this.#readText(folder, place).catch((error: unknown) => {
      if (CemError.isInstance(error) && error.code === "STATE_TOO_LARGE") return "";
      throw error;
    });
    if (text === undefined || parseJson(text).ok) return;
    const stem = place.name.slice(0, -".json".length);
    const aside = `${stem}.broken-${randomBytes(4).toString("hex")}.json`;
    await rename(folder.child(place.name), folder.child(aside));
  }

  async #readText(
    folder: ContainedFolder,
    place: StatePath,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    try {
      // Not to wait for the other end, should the guest have made a pipe of that name.
      await using handle = await open(folder.child(place.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const found = await handle.stat();
      if (!found.isFile())
        throw invalidStatePath(place.guestPath, "there is something of that name, no file");
      this.#requireSize(place, found.size);
      return await handle.readFile({ encoding: "utf8", ...(signal && { signal }) });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      if (code === "ELOOP") throw invalidStatePath(place.guestPath, "it is a link", error);
      throw error;
    }
  }

  async #open(place: StatePath, create: boolean): Promise<ContainedFolder | undefined> {
    try {
      return await openContained(this.#workspaceDir, place.folders, create);
    } catch (error) {
      if (error instanceof NotAFolder) {
        throw invalidStatePath(place.guestPath, "a link or a file is in its way", error);
      }
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (missing && !create) return undefined;
      throw error;
    }
  }

  #requireSize(place: StatePath, bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new CemError(
      "STATE_TOO_LARGE",
      `${place.guestPath} has ${bytes} bytes and the limit is ${this.#maxBytes}. Keep large data in files of its own in /workspace and their names in the state.`,
      { details: { file: place.guestPath, bytes, limitBytes: this.#maxBytes } },
    );
  }
}

type Parsed = { ok: true; value: JsonValue } | { ok: false; fault: string };

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, fault: error instanceof Error ? error.message : String(error) };
  }
}
