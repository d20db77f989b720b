import { WORKFLOW_FILE } from "@cem/core";

/**
 * The kinds of items. `server`: an MCP server. `host-tool`: a file that runs on the host. `plugin`: a module that runs
 * in this process. `package`: an optional package of this program. `mount` and `path`: a place outside the folder. `key`: a key of the user for an address that the
 * folder names. `setting`: a setting that could do harm.
 */
export const TRUST_KINDS = [
  "server",
  "host-tool",
  "plugin",
  "package",
  "mount",
  "path",
  "key",
  "setting",
] as const;

export type TrustKind = (typeof TRUST_KINDS)[number];

/** Compares values as they are in a loaded configuration. */
export type IsStricter = (value: unknown, standard: unknown) => boolean;

/** A number not above the one in force. */
export const atMost: IsStricter = (value, standard) =>
  typeof value === "number" && typeof standard === "number" && value <= standard;

/** The same, where no number means no limit. */
export const atMostIfAny: IsStricter = (value, standard) => standard === undefined || atMost(value, standard);

/** A number not below the one in force, or any number when none is. */
export const atLeastIfAny: IsStricter = (value, standard) =>
  standard === undefined || atMost(standard, value);

/** One of these values, whatever is in force. */
export function oneOf(...values: readonly unknown[]): IsStricter {
  return (value) => values.includes(value);
}

/** A list with all entries in force, and without a pattern with `!`, which would exclude some. */
export const withAll: IsStricter = (value, standard) =>
  Array.isArray(value) &&
  Array.isArray(standard) &&
  standard.every((entry) => value.includes(entry)) &&
  value.every((entry) => !String(entry).startsWith("!"));

/** A value at or before the one in force, in a list that begins with the strictest. */
export function orderedBy(strictestFirst: readonly unknown[]): IsStricter {
  return (value, standard) =>
    strictestFirst.includes(value) && strictestFirst.indexOf(value) <= strictestFirst.indexOf(standard);
}

/** The list in force together with the entries of another. */
export function unionOf(value: readonly unknown[], standard: readonly unknown[]): unknown[] {
  return [...new Set([...standard, ...value.filter((entry) => !String(entry).startsWith("!"))])];
}

const MAX_REPETITIONS = 2;

/** Whether a type of personal data is detected by a list, or by a regular expression that can't take long. */
function isQuick(entry: unknown): boolean {
  const { pattern } = entry as { pattern?: string };
  if (pattern === undefined) return true;
  const repetitions = pattern.match(/[*+]|\{\d+,\}/gu) ?? [];
  return repetitions.length <= MAX_REPETITIONS && !/\)[*+?{]|\\[1-9k]/u.test(pattern);
}

/** Types of personal data without regular expressions that could take long, since there is no time limit. */
export const areQuick: IsStricter = (value) => Array.isArray(value) && value.every(isQuick);

/** Those types of personal data. */
export function quickOnes(value: readonly unknown[]): unknown[] {
  return value.filter(isQuick);
}

/** Steps that work in the sandbox or through tools, whose calls are checked. */
const CHECKED_STEPS = new Set(["tool_call", "code_execution", "condition", "loop", "workflow"]);

/** Workflows without steps of other types, such as forms, and without workflows in files, which are read when they run. */
export const staysInSandbox: IsStricter = (value) => {
  if (typeof value === "string") return !WORKFLOW_FILE.test(value);
  if (typeof value !== "object" || value === null) return true;
  const { type } = value as { type?: unknown };
  if (typeof type === "string" && !CHECKED_STEPS.has(type)) return false;
  return Object.values(value).every((inner) => staysInSandbox(inner, undefined));
};
