import * as z from "zod/mini";
import { nearest } from "@cem/core/text";
import { configInvalid, dottedPath, formatValue, getPath, originKey, problemAt } from "./layer.ts";
import type { ConfigProblem, Layer, SettingOrigin } from "./layer.ts";
import { adviceOnRemoved } from "./python-original.ts";
import { SANDBOX_TYPES } from "./schema/execution.ts";
import { BUILT_IN_TYPES, TYPE_NAME } from "./schema/privacy.ts";
import { configSchema } from "./schema/schema.ts";
import {
  allowedOf,
  holdsSecret,
  memberOf,
  nodeKindOf,
  schemaFor,
  toSnakeCase,
  unwrap,
} from "./schema/shape.ts";

type Issue = z.core.$ZodIssue;

const UNKNOWN_ORIGIN: SettingOrigin = { path: "", origin: { from: "argument", label: "argument" } };

/** Checks each source. Plugins may add names. @throws CemError `CONFIG_INVALID` with all problems. */
export function assertValid(layers: readonly Layer[], hasPlugins: boolean): void {
  const areNamesKnown = !hasPlugins && !layers.some(namesPlugins);
  const problems = layers.flatMap((layer) =>
    [...problemsOf(layer), ...(areNamesKnown ? nameProblems(layer, layers) : [])].toSorted(
      (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
    ),
  );
  if (problems.length > 0) throw configInvalid(problems);
}

/** The problems of one source. A missing key is not reported when a similar, misspelt key of the mapping is. */
function problemsOf(layer: Layer): ConfigProblem[] {
  const renamed = layer.problems.filter(
    ({ unknown, suggestion }) => unknown === true && suggestion !== undefined,
  );
  const isExplained = ({ path }: ConfigProblem): boolean =>
    renamed.some((problem) => path !== "" && problem.path.slice(0, problem.path.lastIndexOf(".")) === path);
  return [...layer.problems, ...checkLayer(layer).filter((problem) => !isExplained(problem))];
}

export function checkLayer(layer: Layer): ConfigProblem[] {
  if (Object.keys(layer.values).length === 0) return [];
  const parsed = configSchema.safeParse(layer.values);
  if (parsed.success) return [];
  return parsed.error.issues.flatMap((issue) => flattenUnion(issue)).map((issue) => toProblem(issue, layer));
}

/** Replaces the issue of a union by the issues of the option that was probably meant. */
function flattenUnion(issue: Issue): Issue[] {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.find(
    (option) => !option.some(({ path, code }) => path.length === 0 && code === "invalid_type"),
  );
  if (meant === undefined) return [issue];
  return meant.flatMap((inner) => flattenUnion({ ...inner, path: [...issue.path, ...inner.path] }));
}

function toProblem(issue: Issue, layer: Layer): ConfigProblem {
  const value = getPath(layer.values, issue.path);
  const settingOrigin = originOf(issue.path, layer);
  const schema = schemaAt(issue.path, layer.values);
  // The message of a pattern says more than the kind of value.
  const isOwn = issue.code === "custom" || (issue.code === "invalid_format" && allowedOf(schema) === "text");
  if (isOwn && issue.message !== "Invalid input") return problemAt(settingOrigin, `${issue.message}.`);
  if (value === undefined) return problemAt(settingOrigin, `is missing. It takes ${allowedOf(schema)}.`);
  const allowed = allowedOf(schema);
  const inner = unwrap(schema);
  const hidden = holdsSecret(schema) || nodeKindOf(inner) !== "scalar";
  const shown = hidden ? describeKind(value) : formatValue(value);
  const told = { allowed, value: hidden ? undefined : shown };
  if (nodeKindOf(inner) === "mapping" && typeof value === "string" && /^[\w-]+:\S/u.test(value))
    return problemAt(settingOrigin, `is ${shown}. Write a space after the colon in it.`, told);
  const isWord = inner instanceof z.ZodMiniEnum && typeof value === "string";
  const suggestion = isWord ? nearest(value, inner.options.map(String))[0] : undefined;
  const message = `is ${shown}. Allowed: ${allowed}. ${adviceOn(issue.path, value, suggestion)}`.trimEnd();
  return problemAt(settingOrigin, message, { ...told, suggestion });
}

function adviceOn(path: readonly PropertyKey[], value: unknown, suggestion: string | undefined): string {
  const removed = adviceOnRemoved(dottedPath(path.map((key) => toSnakeCase(String(key)))), value);
  return removed ?? (suggestion === undefined ? "" : `Did you mean ${suggestion}?`);
}

/** The origin of a value, or of the nearest value around it that has one. */
function originOf(path: readonly PropertyKey[], layer: Layer): SettingOrigin {
  for (let length = path.length; length > 0; length -= 1) {
    const nearestOrigin = layer.origins.get(originKey(path.slice(0, length)));
    if (nearestOrigin === undefined) continue;
    const rest = path.slice(length).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`));
    return { ...nearestOrigin, path: nearestOrigin.path + rest.join("") };
  }
  return UNKNOWN_ORIGIN;
}

function schemaAt(path: readonly PropertyKey[], values: unknown): z.ZodMiniType {
  let schema: z.ZodMiniType = configSchema;
  for (const [index, key] of path.entries()) {
    const value = getPath(values, path.slice(0, index));
    const inner = schemaFor(schema, Array.isArray(value) ? "list" : "mapping");
    const member = memberOf(inner, key);
    if (member === undefined) return inner;
    schema = member;
  }
  return schema;
}

/** Describes a value without showing it. */
function describeKind(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  return typeof value === "string" ? (value === "" ? "empty" : "a text") : `a ${typeof value}`;
}

/** Normalizes the case of built-in sandboxes: variables often have upper-case letters. */
export function builtInSandbox(name: string): string {
  return SANDBOX_TYPES.find((one) => one === name.toLowerCase()) ?? name;
}

function namesPlugins({ values }: Layer): boolean {
  const plugins = getPath(values, ["plugins"]);
  return Array.isArray(plugins) && plugins.length > 0;
}

/** Problems of unknown names: of sandboxes, and of types of values, to which `privacy.custom` of any source adds. */
function nameProblems(layer: Layer, layers: readonly Layer[]): ConfigProblem[] {
  const sandbox = getPath(layer.values, SANDBOX_TYPE);
  const sandboxes =
    typeof sandbox !== "string" || SANDBOX_TYPES.includes(builtInSandbox(sandbox))
      ? []
      : [notOneOf(SANDBOX_TYPES, sandbox, SANDBOX_TYPE, layer)];
  const custom = layers.flatMap((one) => listAt(one, ["privacy", "custom"]));
  const known = [...BUILT_IN_TYPES, ...custom.map((one) => String(getPath(one, ["type"])))];
  const types = listAt(layer, TYPES).flatMap((type, at) =>
    typeof type !== "string" || known.includes(type) || !TYPE_NAME.test(type)
      ? []
      : [notOneOf(known, type, [...TYPES, at], layer)],
  );
  return [...sandboxes, ...types];
}

const SANDBOX_TYPE = ["execution", "sandboxType"];
const TYPES = ["privacy", "types"];

function listAt({ values }: Layer, path: readonly string[]): unknown[] {
  const list = getPath(values, path);
  return Array.isArray(list) ? list : [];
}

function notOneOf(
  options: readonly string[],
  named: string,
  path: readonly (string | number)[],
  layer: Layer,
) {
  const [suggestion] = nearest(named, options);
  const allowed = options.join(", ");
  const value = formatValue(named);
  const message = `is ${value}. Allowed: ${allowed}. ${adviceOn(path, named, suggestion)}`.trimEnd();
  return problemAt(originOf(path, layer), message, { allowed, value, suggestion });
}
