import { CemError } from "@cem/core";
import { formatOf, STATE_ENDINGS } from "./state-format.ts";

const GUEST_ROOT = "/workspace/";
const MAX_PATH_CHARACTERS = 1_024;
const MAX_NAME_BYTES = 200;
// eslint-disable-next-line no-control-regex -- control characters are refused on purpose
const NOT_PORTABLE = /[\u0000-\u001F\u007F\\:*?"<>|]/u;

const ENDINGS = new Intl.ListFormat("en", { type: "disjunction" }).format(STATE_ENDINGS);

/** The path of a state file below the workspace. */
export interface StatePath {
  folders: readonly string[];
  /** The file name. Its ending says the format. */
  name: string;
  /** As guest code sees it: `/workspace/state.json`. */
  guestPath: string;
}

/**
 * Parses and checks the path of a state file.
 *
 * @param file - Relative to the workspace, or absolute as the guest sees it (`/workspace/…`).
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
