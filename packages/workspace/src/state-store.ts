import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, rename } from "node:fs/promises";
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
  /** Absolute host path of the folder that the guest sees as `/workspace`. It must exist when state is saved. */
  workspaceDir: string;
  /**
   * The file that is read and written when the caller names none, relative to the workspace.
   *
   * @defaultValue `state.json`
   */
  stateFile?: string | undefined;
  /**
   * The largest state file that is read or written, in bytes.
   *
   * @defaultValue 64 MiB
   */
  maxBytes?: number | undefined;
}

/**
 * Creates a store that keeps state as JSON files in the workspace, where guest code reads and writes the same files.
 *
 * Writes are atomic, also across processes and when the process is killed. Links in the workspace are not followed. A
 * file that is not valid JSON is never overwritten: saving renames it to `<name>.broken-<random>.json` first.
 */
export function createStateStore(settings: StateStoreSettings): StateStore {
  return new FileStateStore(settings);
}

class FileStateStore implements StateStore {
  readonly specificationVersion = "v1";
  readonly #workspaceDir: string;
  readonly #stateFile: string;
  readonly #maxBytes: number;
  /** The last pending save of each file; saves of one file run in the order they were requested. */
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
    const statePath = parseStatePath(file);
    await using folder = await this.#open(statePath, false);
    const text = folder && (await this.#readText(folder, statePath, signal));
    if (text === undefined) return { exists: false, data: {} };
    const parsed = parseJson(text);
    if (parsed.ok) return { exists: true, data: parsed.value };
    throw new CemError(
      "STATE_UNREADABLE",
      `${statePath.guestPath} is not valid JSON: ${parsed.reason}. The file is unchanged; saving new state renames it first.`,
      { details: { file: statePath.guestPath, reason: parsed.reason } },
    );
  }

  async save(
    data: JsonValue,
    file: string = this.#stateFile,
    { signal }: { signal?: AbortSignal | undefined } = {},
  ): Promise<{ file: string }> {
    signal?.throwIfAborted();
    const statePath = parseStatePath(file);
    const bytes = Buffer.from(`${JSON.stringify(data, undefined, INDENT)}\n`);
    this.#requireSize(statePath, bytes.byteLength);
    const before = this.#saves.get(statePath.guestPath) ?? Promise.resolve();
    const done = before.catch(() => {}).then(() => this.#replace(statePath, bytes, signal));
    this.#saves.set(statePath.guestPath, done);
    try {
      await done;
    } finally {
      if (this.#saves.get(statePath.guestPath) === done) this.#saves.delete(statePath.guestPath);
    }
    return { file: statePath.guestPath };
  }

  async #replace(statePath: StatePath, bytes: Buffer, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await using folder = await this.#open(statePath, true);
    if (folder === undefined) throw invalidStatePath(statePath.guestPath, "its folder was removed");
    await this.#renameBroken(folder, statePath);
    await folder.replace(statePath.name, bytes);
  }

  /** Renames the state file if it exists and is not valid JSON. */
  async #renameBroken(folder: ContainedFolder, statePath: StatePath): Promise<void> {
    const text = await this.#readText(folder, statePath).catch((error: unknown) => {
      if (CemError.isInstance(error) && error.code === "STATE_TOO_LARGE") return "";
      throw error;
    });
    if (text === undefined || parseJson(text).ok) return;
    const stem = statePath.name.slice(0, -".json".length);
    const aside = `${stem}.broken-${randomBytes(4).toString("hex")}.json`;
    await rename(folder.child(statePath.name), folder.child(aside));
  }

  async #readText(
    folder: ContainedFolder,
    statePath: StatePath,
    signal?: AbortSignal,
  ): Promise<string | undefined> {
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    try {
      // Without O_NONBLOCK a named pipe that guest code created would block here.
      await using handle = await open(folder.child(statePath.name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
      const found = await handle.stat();
      if (!found.isFile()) throw invalidStatePath(statePath.guestPath, "it is not a regular file");
      this.#requireSize(statePath, found.size);
      return await handle.readFile({ encoding: "utf8", signal });
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return undefined;
      if (code === "ELOOP") throw invalidStatePath(statePath.guestPath, "it is a link", error);
      throw error;
    }
  }

  async #open(statePath: StatePath, create: boolean): Promise<ContainedFolder | undefined> {
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

  #requireSize(statePath: StatePath, bytes: number): void {
    if (bytes <= this.#maxBytes) return;
    throw new CemError(
      "STATE_TOO_LARGE",
      `${statePath.guestPath} has ${bytes} bytes; the limit is ${this.#maxBytes}. Large data belongs in separate files in /workspace.`,
      { details: { file: statePath.guestPath, bytes, limitBytes: this.#maxBytes } },
    );
  }
}

type Parsed = { ok: true; value: JsonValue } | { ok: false; reason: string };

function parseJson(text: string): Parsed {
  try {
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}
