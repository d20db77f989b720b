import { unquotePython } from "./python-string.ts";

const NAMES: Readonly<Record<string, string>> = {
  str: "string",
  int: "number",
  float: "number",
  complex: "number",
  bool: "boolean",
  None: "null",
  Decimal: "number",
  date: "string",
  datetime: "string",
  Path: "string",
  UUID: "string",
  dict: "Record<string, unknown>",
  Dict: "Record<string, unknown>",
  Mapping: "Record<string, unknown>",
  list: "unknown[]",
  List: "unknown[]",
  tuple: "unknown[]",
  Tuple: "unknown[]",
  set: "unknown[]",
  Set: "unknown[]",
};
const LISTS = new Set([
  "list",
  "List",
  "Sequence",
  "Iterable",
  "Iterator",
  "set",
  "Set",
  "frozenset",
  "FrozenSet",
  "Collection",
]);
const MAPPINGS = new Set([
  "dict",
  "Dict",
  "Mapping",
  "MutableMapping",
  "OrderedDict",
  "defaultdict",
  "DefaultDict",
]);
/** Types that stand for the one inside. */
const WRAPPERS = new Set([
  "Annotated",
  "Awaitable",
  "Coroutine",
  "ClassVar",
  "Final",
  "Required",
  "NotRequired",
]);
const MAX_DEPTH = 20;

/** The type in TypeScript for a type annotation in Python; `unknown` for what has no counterpart. */
export function toTypeScriptType(annotation: string, depth = 0): string {
  const text = annotation.trim();
  if (depth > MAX_DEPTH) return "unknown";
  const options = splitAt(text, "|");
  if (options.length > 1) return union(options, depth);
  if (/^[rRuU]?["']/u.test(text)) return toTypeScriptType(unquotePython(text), depth + 1);
  const [, name = "", inside] = /^(?:\w+\.)*(\w+)\s*(?:\[([\s\S]*)\])?$/u.exec(text) ?? [];
  const parts = inside === undefined ? [] : splitAt(inside, ",");
  const [first = "Any"] = parts;
  const type = (part: string): string => toTypeScriptType(part, depth + 1);
  if (inside === undefined) return Object.hasOwn(NAMES, name) ? (NAMES[name] ?? "unknown") : "unknown";
  if (name === "Optional") return union([first, "None"], depth);
  if (name === "Union") return union(parts, depth);
  if (name === "Literal") return parts.map(toLiteral).join(" | ");
  if (LISTS.has(name)) return listOf(type(first));
  if (MAPPINGS.has(name)) return `Record<string, ${type(parts[1] ?? "Any")}>`;
  if (name === "tuple" || name === "Tuple")
    return parts[1]?.trim() === "..." ? listOf(type(first)) : `[${parts.map(type).join(", ")}]`;
  return WRAPPERS.has(name) ? type(name === "Coroutine" ? (parts[2] ?? "Any") : first) : "unknown";
}

/** Whether an annotation says that nothing may be given. */
export function isOptional(annotation: string): boolean {
  return toTypeScriptType(annotation).split(" | ").includes("null");
}

function union(options: readonly string[], depth: number): string {
  const types = [...new Set(options.flatMap((option) => toTypeScriptType(option, depth + 1).split(" | ")))];
  return types.includes("unknown") ? "unknown" : types.join(" | ");
}

/** The type of a list of these. */
export function listOf(type: string): string {
  return type.includes(" | ") ? `(${type})[]` : `${type}[]`;
}

function toLiteral(text: string): string {
  const written = text.trim();
  if (/^[rRuU]?["']/u.test(written)) return JSON.stringify(unquotePython(written));
  if (/^-?\d+(?:\.\d+)?$/u.test(written)) return written;
  return { True: "true", False: "false", None: "null" }[written] ?? "unknown";
}

/** Splits at a sign that stands in no bracket and no string. */
function splitAt(text: string, sign: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const [token] of text.matchAll(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[\s\S]/gu)) {
    if ("[({".includes(token)) depth += 1;
    else if ("])}".includes(token)) depth -= 1;
    if (token === sign && depth === 0) parts.push("");
    else parts[parts.length - 1] += token;
  }
  return parts.filter((part) => part.trim() !== "");
}
