import { hash } from "node:crypto";
import { join } from "node:path";
import { CemError, writeFailure, type StateStore } from "@cem/core";
import { withLock } from "../files/file-lock.ts";
import {
  encodeStateFile,
  invalidStatePath,
  keepAside,
  openStateFolder,
  parseStateFile,
  parseStatePath,
  readStateFile,
  requireSize,
} from "./state-files.ts";
import type { StatePath } from "./state-files.ts";
import { formatOf, isPickle, nameInFormat, pickleNames, STATE_FORMATS } from "./state-format.ts";
import type { StateFormat } from "./state-format.ts";
import { createKnownStates, mergeChanges } from "./state-merge.ts";

type ReadState = Awaited<ReturnType<StateStore["read"]>>;
type SavedState = Awaited<ReturnType<StateStore["save"]>>;
type SaveStateOptions = NonNullable<Parameters<StateStore["save"]>[2]>;

const DEFAULT_STATE_FILE = "state.json";
const DEFAULT_MAX_STATE_BYTES = 64 * 1024 * 1024;
const VERSION_CHARACTERS = 16;

export interface StateStoreSettings {
  /** Absolute host path of the folder mounted as `/workspace`. It must exist when state is saved. */
  workspaceDir: string;
  /**
   * The default file, relative to the workspace. Its extension is replaced by that of the format.
   *
   * @defaultValue `state.json`
   */
  stateFile?: string | undefined;
  /**
   * The format of that file. The format of other files is determined by their extension.
   *
   * @defaultValue `json`
   */
  format?: StateFormat | undefined;
  /**
   * The maximum size of a state file, in bytes. YAML is limited to 4 MiB in any case.
   *
   * @defaultValue 64 MiB
   */
  maxBytes?: number | undefined;
}

/**
 * Creates a store that keeps state as files in the workspace, where guest code reads and writes the same files: JSON, YAML
 * or, in binary, MessagePack.
 *
 * Writes are atomic and durable, across processes and even if the process is killed. Links in the workspace are not
 * followed. An unreadable file is never overwritten: saving keeps it as `<name>.broken-<random>.<ending>`.
 */
export function createStateStore({
  workspaceDir,
  stateFile = DEFAULT_STATE_FILE,
  format: defaultFormat = "json",
  maxBytes = DEFAULT_MAX_STATE_BYTES,
}: StateStoreSettings): StateStore {
  const defaultFile = nameInFormat(stateFile, defaultFormat);
  /** The last pending save of each file; saves of one file run in the order they were requested. */
  const saves = new Map<string, Promise<SavedState>>();
  const known = createKnownStates();
  /** Files whose unfinished temporary files of other processes were removed. */
  const tidied = new Set<string>();

  async function parse({ name, guestPath }: StatePath, bytes: Uint8Array): Promise<ReadState> {
    if (isPickle(bytes)) throw pickleRefused(guestPath);
    const format = formatOf(name) ?? "json";
    const parsed = await parseStateFile(bytes, format);
    if (parsed.ok) {
      const version = versionOf(bytes);
      known.add(guestPath, version, bytes);
      return { exists: true, data: parsed.value, version };
    }
    throw new CemError(
      "STATE_UNREADABLE",
      `${guestPath} is not valid ${FORMAT_NAMES[format]}: ${parsed.reason}. The file is unchanged; saving new state renames it first.`,
      { details: { file: guestPath, reason: parsed.reason } },
    );
  }

  async function replace(
    statePath: StatePath,
    bytes: Uint8Array,
    { signal, version }: SaveStateOptions,
  ): Promise<SavedState> {
    const { folders, name, guestPath } = statePath;
    const key = join(workspaceDir, ...folders, name);
    return withLock(key, guestPath, async () => {
      signal?.throwIfAborted();
      await using folder = await openStateFolder(workspaceDir, statePath, true);
      if (folder === undefined) throw invalidStatePath(guestPath, "its folder was removed");
      const found = await readStateFile(folder, statePath, { maxBytes }).catch((error: unknown) => {
        if (CemError.isInstance(error) && error.code === "STATE_TOO_LARGE") return new Uint8Array();
        throw error;
      });
      const current = found === undefined ? NO_VERSION : versionOf(found);
      const isChanged = version !== undefined && version !== current;
      const written = isChanged ? await merge(statePath, bytes, { version, found, current }) : bytes;
      const saved: SavedState = { file: guestPath, version: versionOf(written) };
      if (isChanged) saved.merged = true;
      if (found !== undefined && !(await isReadable(statePath, found, current)))
        saved.keptAside = await keepAside(folder, statePath);
      if (!tidied.has(key)) await folder.removeUnfinished(name);
      tidied.add(key);
      await folder.replace(name, written);
      known.add(guestPath, saved.version, written);
      return saved;
    }).catch((error: unknown) => {
      throw writeFailure(error, guestPath, "the file system of the workspace");
    });
  }

  /** @throws CemError `STATE_CONFLICT` if both changed the same key, or the base state of the change is unknown. */
  async function merge(
    statePath: StatePath,
    bytes: Uint8Array,
    { version, found, current }: { version: string; found: Uint8Array | undefined; current: string },
  ): Promise<Uint8Array> {
    const { guestPath, name } = statePath;
    const format = formatOf(name) ?? "json";
    const base = version === NO_VERSION ? EMPTY : known.contentOf(guestPath, version);
    const states = [];
    for (const content of base === undefined || found === undefined ? [] : [base, bytes, found]) {
      const parsed =
        content === EMPTY ? { ok: true as const, value: {} } : await parseStateFile(content, format);
      if (parsed.ok) states.push(parsed.value);
    }
    const [before, mine, theirs] = states;
    const isKnown = before !== undefined && mine !== undefined && theirs !== undefined;
    const merged = isKnown ? mergeChanges(before, mine, theirs) : undefined;
    if (merged?.ok !== true)
      throw stateConflict(guestPath, { expected: version, found: current, keys: merged?.keys });
    const written = await encodeStateFile(merged.value, format);
    requireSize(statePath, written.byteLength, maxBytes);
    return written;
  }

  async function isReadable({ guestPath, name }: StatePath, bytes: Uint8Array, version: string) {
    if (known.isReadable(guestPath, version)) return true;
    return (await parseStateFile(bytes, formatOf(name) ?? "json")).ok;
  }

  return {
    specificationVersion: "v1",
    async read(file, { signal } = {}) {
      signal?.throwIfAborted();
      refusePickle(file);
      const statePath = parseStatePath(file ?? defaultFile);
      await using folder = await openStateFolder(workspaceDir, statePath, false);
      if (folder === undefined) return { exists: false, data: {}, version: NO_VERSION };
      // An earlier format setting may have left the default file under another name.
      const others = STATE_FORMATS.map((format) => nameInFormat(statePath.name, format));
      for (const name of new Set([statePath.name, ...(file === undefined ? others : [])])) {
        const found = withName(statePath, name);
        const bytes = await readStateFile(folder, found, { maxBytes, signal });
        if (bytes !== undefined) return await parse(found, bytes);
      }
      for (const name of file === undefined ? pickleNames(statePath.name) : []) {
        const pickle = withName(statePath, name);
        if ((await readStateFile(folder, pickle, { maxBytes, signal })) !== undefined)
          throw pickleRefused(pickle.guestPath);
      }
      return { exists: false, data: {}, version: NO_VERSION };
    },
    async save(data, file, options = {}) {
      options.signal?.throwIfAborted();
      refusePickle(file);
      const statePath = parseStatePath(file ?? defaultFile);
      const { guestPath, name } = statePath;
      const bytes = await encodeStateFile(data, formatOf(name) ?? "json");
      requireSize(statePath, bytes.byteLength, maxBytes);
      const before = saves.get(guestPath) ?? Promise.resolve();
      const done = before.catch(() => {}).then(() => replace(statePath, bytes, options));
      saves.set(guestPath, done);
      try {
        return await done;
      } finally {
        if (saves.get(guestPath) === done) saves.delete(guestPath);
      }
    },
  };
}

/** The state of a missing file. */
const EMPTY = new Uint8Array();

const FORMAT_NAMES = { json: "JSON", yaml: "YAML", binary: "MessagePack" } as const;

function withName(statePath: StatePath, name: string): StatePath {
  return { ...statePath, name, guestPath: statePath.guestPath.slice(0, -statePath.name.length) + name };
}

function versionOf(bytes: Uint8Array): string {
  return hash("sha256", bytes).slice(0, VERSION_CHARACTERS);
}

/** The version of a missing file. */
const NO_VERSION = "";

/** `STATE_CONFLICT`: the file's version differs from the one that a save is based on. */
function stateConflict(
  file: string,
  { expected, found, keys }: { expected: string; found: string; keys: readonly string[] | undefined },
): CemError {
  const now = found === NO_VERSION ? "it was removed" : `it has version ${found} now`;
  const based = expected === NO_VERSION ? "no file" : `version ${expected}`;
  const both = keys === undefined ? "" : ` Both changes set ${keys.slice(0, MAX_SHOWN_KEYS).join(", ")}.`;
  return new CemError(
    "STATE_CONFLICT",
    `${file} was changed by someone else: ${now}, the new state is based on ${based}.${both} Read it again, and save what both changes make.`,
    { details: { file, expected, found, ...(keys && { keys: keys.slice(0, MAX_SHOWN_KEYS) }) } },
  );
}

const MAX_SHOWN_KEYS = 10;

/** Refuses a file name with the extension of a Python pickle. */
function refusePickle(file: string | undefined): void {
  if (file !== undefined && /\.(?:pkl|pickle)$/.test(file)) throw pickleRefused(file);
}

/** `STATE_UNREADABLE`: the file is a Python pickle. */
function pickleRefused(file: string): CemError {
  const last = file.slice(file.lastIndexOf("/") + 1);
  // The name is used in a shell command.
  const name = /^[\w.-]{1,200}$/.test(last) ? last : "state.pkl";
  const target = nameInFormat(name, "json");
  return new CemError(
    "STATE_UNREADABLE",
    `${name} is a Python pickle, which runs code when it is read, so it is not read here. Where you trust it, convert it once: python3 -c "import json, pickle; json.dump(pickle.load(open('${name}', 'rb')), open('${target}', 'w'))"`,
    { details: { file: name, reason: "a Python pickle" } },
  );
}
