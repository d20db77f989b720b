import { parser } from "@lezer/python";
import { unquotePython } from "./docstring.ts";

type SyntaxNode = ReturnType<typeof parser.parse>["topNode"];

/** A parameter of a function in Python. */
export interface PythonParameter {
  name: string;
  /** The annotation as written. */
  annotation?: string | undefined;
  /** The default as written. */
  standard?: string | undefined;
  /** `rest` for `*args`, `keywords` for `**kwargs`. */
  kind: "plain" | "rest" | "keywords";
}

/** A function at the top level of a module in Python. */
export interface PythonFunction {
  name: string;
  /** From 1. */
  line: number;
  parameters: PythonParameter[];
  /** The annotation of what it returns, as written. */
  returns?: string | undefined;
  docstring: string;
  /** The MCP tool that it only passes its arguments to. */
  mcpTool?: { server: string; tool: string } | undefined;
}

/** The declarations of a module in Python, read without running it. */
export interface PythonModule {
  docstring: string;
  functions: PythonFunction[];
}

/** Whether a text is a program in Python and not in TypeScript, as far as its form shows. */
export function isPython(text: unknown): boolean {
  if (typeof text !== "string" || /\bawait\b|;\s*$/mu.test(text)) return false;
  let isValid = true;
  parser.parse(`${text}\n`).iterate({ enter: ({ type }) => void (isValid &&= !type.isError) });
  return isValid;
}

/** Reads a module in Python; what it does not understand is left out. */
export function readPythonModule(text: string): PythonModule {
  const root = parser.parse(text).topNode;
  const read = { text, line: (at: number) => text.slice(0, at).split("\n").length };
  const functions = childrenOf(root)
    .map((node) => (node.name === "DecoratedStatement" ? node.getChild("FunctionDefinition") : node))
    .filter((node) => node?.name === "FunctionDefinition")
    .map((node) => toFunction(node as SyntaxNode, read))
    .filter((one) => one !== undefined);
  return { docstring: docstringOf(root, text), functions };
}

interface Source {
  text: string;
  line: (at: number) => number;
}

function toFunction(node: SyntaxNode, { text, line }: Source): PythonFunction | undefined {
  const name = node.getChild("VariableName");
  const body = node.getChild("Body");
  if (name === null) return undefined;
  return {
    name: textOf(name, text),
    line: line(node.from),
    parameters: parametersOf(node.getChild("ParamList"), text),
    returns: annotationOf(node.getChild("TypeDef"), text),
    docstring: body === null ? "" : docstringOf(body, text),
    mcpTool: body === null ? undefined : mcpToolOf(body, text),
  };
}

function parametersOf(list: SyntaxNode | null, text: string): PythonParameter[] {
  const parameters: PythonParameter[] = [];
  let kind: PythonParameter["kind"] = "plain";
  let isDefault = false;
  for (const node of list === null ? [] : childrenOf(list)) {
    const last = parameters.at(-1);
    const written = textOf(node, text);
    if (written === "*" || written === "**") kind = written === "*" ? "rest" : "keywords";
    else if (written === ",") [kind, isDefault] = ["plain", false];
    else if (isDefault && last !== undefined) {
      last.standard = written;
      isDefault = false;
    } else if (node.name === "VariableName") parameters.push({ name: written, kind });
    else if (node.name === "TypeDef" && last !== undefined) last.annotation = annotationOf(node, text);
    else if (node.name === "AssignOp") isDefault = true;
  }
  const [first] = parameters;
  return first?.name === "self" || first?.name === "cls" ? parameters.slice(1) : parameters;
}

/** `-> str` and `: str` without their sign. */
function annotationOf(node: SyntaxNode | null, text: string): string | undefined {
  return node === null ? undefined : textOf(node, text).replace(/^(?:->|:)\s*/u, "");
}

/** The string that a module or a body begins with. */
function docstringOf(node: SyntaxNode, text: string): string {
  const first = childrenOf(node).find(({ name }) => name !== "Comment" && name !== ":");
  const value = first?.name === "ExpressionStatement" ? first.firstChild : null;
  return value?.name === "String" ? unquotePython(textOf(value, text)) : "";
}

/** The first call of `call_mcp_tool` with a server and a tool that are written out. */
function mcpToolOf(body: SyntaxNode, text: string): PythonFunction["mcpTool"] {
  let found: PythonFunction["mcpTool"];
  body.cursor().iterate((reference) => {
    if (found !== undefined || reference.name !== "CallExpression") return;
    const callee = reference.node.firstChild;
    const list = reference.node.getChild("ArgList");
    if (callee === null || list === null || !/(?:^|\.)call_mcp_tool$/u.test(textOf(callee, text))) return;
    const words = childrenOf(list).filter(({ name }) => name === "VariableName" || name === "String");
    const named = (name: string): SyntaxNode | undefined =>
      words.find(
        (_, at) =>
          words[at - 1]?.name === "VariableName" &&
          words[at - 1] !== undefined &&
          textOf(words[at - 1] as SyntaxNode, text) === name,
      );
    const strings = words.filter(({ name }) => name === "String");
    const [server, tool] = [named("server_name") ?? strings[0], named("tool_name") ?? strings[1]];
    if (server === undefined || tool === undefined) return;
    found = { server: unquotePython(textOf(server, text)), tool: unquotePython(textOf(tool, text)) };
  });
  return found;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function textOf({ from, to }: SyntaxNode, text: string): string {
  return text.slice(from, to);
}

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
