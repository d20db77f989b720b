import { randomBytes } from "node:crypto";
import { link, rename } from "node:fs/promises";
import { CemError, moduleBeside, offload, type JsonValue, type OffloadedWork } from "@cem/core";
import { NotAFolder, openContained, readContained, UnusableFile } from "@cem/core/files";
import type { ContainedFolder } from "@cem/core/files";
import { encodeState, formatOf, largestOf, parseState, STATE_ENDINGS } from "./state-format.ts";
import type { ParsedState, StateFormat } from "./state-format.ts";

const GUEST_ROOT = "/workspace/";
const MAX_PATH_CHARACTERS = 1_024;
const MAX_NAME_BYTES = 200;
// eslint-disable-next-line no-control-regex -- control characters are refused on purpose
const NOT_PORTABLE = /[\u0000-\u001F\u007F\\:*?"<>|]/u;

// Intl.ListFormat would take 20 ms per process to load its data.
const ENDINGS = STATE_ENDINGS.join(", ").replace(/, (?=[^,]*$)/u, ", or ");

/** The path of a state file below the workspace. */
export interface StatePath {
  folders: readonly string[];
  /** The file name. Its extension determines the format. */
  name: string;
  /** The path in the guest: `/workspace/state.json`. */
  guestPath: string;
}

/**
 * Parses and checks the path of a state file.
 *
 * @param file - Relative to the workspace, or an absolute guest path (`/workspace/…`).
 *
 * @throws CemError `STATE_PATH_INVALID`
 */
export function parseStatePath(file: string): StatePath {
  const relative = file.startsWith(GUEST_ROOT) ? file.slice(GUEST_ROOT.length) : file;
  const parts = relative.split("/");
  const reason = refusalReason(relative, parts);
  if (reason !== undefined) throw invalidStatePath(file, reason);
  return { folders: parts.slice(0, -1), name: parts.at(-1) ?? "", guestPath: GUEST_ROOT + relative };
}

/** `STATE_PATH_INVALID`: the path can't be a state file, for the given reason. */
export function invalidStatePath(file: string, reason: string, cause?: unknown): CemError {
  const shown = JSON.stringify(file.slice(0, MAX_PATH_CHARACTERS));
  return new CemError(
    "STATE_PATH_INVALID",
    `${shown} can't be a state file: ${reason}. A state file is a path inside the workspace that ends in ${ENDINGS}, such as "progress.json" or "notes/today.json".`,
    { details: { file: file.slice(0, MAX_PATH_CHARACTERS), reason }, cause },
  );
}

function refusalReason(relative: string, parts: readonly string[]): string | undefined {
  if (relative.length > MAX_PATH_CHARACTERS) return `it is longer than ${MAX_PATH_CHARACTERS} characters`;
  if (relative.startsWith("/")) return "it is outside the workspace";
  if (parts.includes("..")) return "it leads out of the workspace";
  if (NOT_PORTABLE.test(relative)) return "it contains characters that are not portable in file names";
  if (parts.some((part) => part === "" || part === ".")) return 'it contains an empty name or "."';
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) {
    return `a name in it is longer than ${MAX_NAME_BYTES} bytes`;
  }
  const name = parts.at(-1) ?? "";
  const isNamed = formatOf(name) !== undefined && !STATE_ENDINGS.includes(name);
  return isNamed ? undefined : `it does not end in ${ENDINGS}`;
}

/** Reads a state file; `undefined` if there is none. @throws CemError `STATE_TOO_LARGE` */
export async function readStateFile(
  folder: ContainedFolder,
  statePath: StatePath,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal | undefined },
): Promise<Uint8Array | undefined> {
  try {
    const check = (bytes: number): void => requireSize(statePath, bytes, maxBytes);
    return (await readContained(folder, statePath.name, { signal, check }))?.bytes;
  } catch (error) {
    if (error instanceof UnusableFile) throw invalidStatePath(statePath.guestPath, error.message, error);
    throw error;
  }
}

/** Opens the folder of a state file; `undefined` if it is missing and must not be created. */
export async function openStateFolder(
  workspaceDir: string,
  { folders, guestPath }: StatePath,
  create: boolean,
): Promise<ContainedFolder | undefined> {
  try {
    return await openContained(workspaceDir, folders, create);
  } catch (error) {
    if (error instanceof NotAFolder)
      throw invalidStatePath(guestPath, "a folder on its path is a link or a file", error);
    if (!create && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** @throws CemError `STATE_TOO_LARGE` */
export function requireSize({ name, guestPath }: StatePath, bytes: number, maxBytes: number): void {
  const limitBytes = largestOf(formatOf(name) ?? "json", maxBytes);
  if (bytes <= limitBytes) return;
  throw new CemError(
    "STATE_TOO_LARGE",
    `${guestPath} has ${bytes} bytes; the limit is ${limitBytes}. Large data belongs in separate files in /workspace.`,
    { details: { file: guestPath, bytes, limitBytes } },
  );
}

/** Keeps a broken file under another name. The original stays in place until it is replaced, if the file system supports it. */
export async function keepAside(folder: ContainedFolder, { name, guestPath }: StatePath): Promise<string> {
  const ending = name.slice(name.lastIndexOf("."));
  const aside = `${name.slice(0, -ending.length)}.broken-${randomBytes(4).toString("hex")}${ending}`;
  const [from, to] = [folder.child(name), folder.child(aside)];
  await link(from, to).catch(() => rename(from, to));
  return guestPath.slice(0, -name.length) + aside;
}

/** Larger YAML takes more than a few milliseconds to parse or serialize. */
const MAX_QUICK_BYTES = 8 * 1024;

/** Like `parseState`, but large YAML is parsed in a work thread. */
export async function parseStateFile(bytes: Uint8Array, format: StateFormat): Promise<ParsedState> {
  const here = () => parseState(bytes, format);
  if (format !== "yaml" || bytes.byteLength <= MAX_QUICK_BYTES) return here();
  return offload(() => workOf("parseState", bytes, format), here);
}

/** Like `encodeState`, but large YAML is serialized in a work thread. */
export async function encodeStateFile(value: JsonValue, format: StateFormat): Promise<Uint8Array> {
  const here = () => encodeState(value, format);
  if (format !== "yaml" || JSON.stringify(value).length <= MAX_QUICK_BYTES) return here();
  return offload(() => workOf("encodeState", value, format), here);
}

function workOf(name: string, ...args: readonly unknown[]): OffloadedWork {
  return { module: moduleBeside("state-format", import.meta.url), name, args };
}
