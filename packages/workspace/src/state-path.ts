import { CemError } from "@cem/core";

const GUEST_ROOT = "/workspace/";
const MAX_PATH_CHARACTERS = 1_024;
const MAX_NAME_BYTES = 200;
// eslint-disable-next-line no-control-regex -- these are what must not be in a name
const UNUSABLE = /[\u0000-\u001F\u007F\\:*?"<>|]/u;

/** A state file's place below the workspace. */
export interface StatePath {
  folders: readonly string[];
  name: string;
  /** As guest code sees it: `/workspace/state.json`. */
  guestPath: string;
}

/**
 * Reads the path of a state file: relative to the workspace, or as the guest sees it.
 *
 * @throws CemError `STATE_PATH_INVALID`
 */
export function parseStatePath(file: string): StatePath {
  const relative = file.startsWith(GUEST_ROOT) ? file.slice(GUEST_ROOT.length) : file;
  const parts = relative.split("/");
  const fault = faultOf(relative, parts);
  if (fault !== undefined) throw invalidStatePath(file, fault);
  return { folders: parts.slice(0, -1), name: parts.at(-1) ?? "", guestPath: GUEST_ROOT + relative };
}

/** What every refusal of a path says. */
export function invalidStatePath(file: string, fault: string, cause?: unknown): CemError {
  const shown = JSON.stringify(file.slice(0, MAX_PATH_CHARACTERS));
  return new CemError(
    "STATE_PATH_INVALID",
    `${shown} can't be a state file: ${fault}. Give a path inside the workspace that ends in .json, such as "progress.json" or "notes/today.json".`,
    { details: { file: file.slice(0, MAX_PATH_CHARACTERS), fault }, cause },
  );
}

function faultOf(relative: string, parts: readonly string[]): string | undefined {
  if (relative.length > MAX_PATH_CHARACTERS) return `it is longer than ${MAX_PATH_CHARACTERS} characters`;
  if (relative.startsWith("/")) return "it is outside the workspace";
  if (parts.includes("..")) return "it leads out of the workspace";
  if (UNUSABLE.test(relative)) return "it has characters that a file name can't have everywhere";
  if (parts.some((part) => part === "" || part === ".")) return "a part of it is empty";
  if (parts.some((part) => Buffer.byteLength(part) > MAX_NAME_BYTES)) {
    return `a name in it is longer than ${MAX_NAME_BYTES} bytes`;
  }
  return relative.endsWith(".json") && parts.at(-1) !== ".json" ? undefined : "it does not end in .json";
}
