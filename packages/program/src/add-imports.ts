import { isBuiltin } from "node:module";
import type { Node, Statement } from "@babel/types";
import { editSource } from "./emit-imports.ts";
import { locationOf, mayImportInExpression, type SourceLocation } from "./imports.ts";
import { parseProgram, type Program } from "./parse-program.ts";
import { patternNames } from "./scopes.ts";
import {
  isNamed,
  isTypeOnly,
  namesUsedAtRunTime,
  runtimeNodes,
  visitNodes,
  type NodeVisit,
} from "./syntax-tree.ts";

const NAME = "require";
/** Globals of the sandbox that this process may lack. A tool of the same name never replaces one. */
const GUEST_GLOBALS = new Set(
  "Deno Temporal __dirname __filename exports module require self window".split(" "),
);

/**
 * Supports CommonJS `require("path")`: makes an import of a constant at the top level, and otherwise imports the module and
 * replaces the call by its name. Replaces `require.main === module` by `true`.
 *
 * @returns the code, with unchanged line numbers. Code with a syntax error or its own `require` is returned unchanged.
 */
export function importRequired(code: string): string {
  if (!code.includes(NAME)) return code;
  const parsed = parseProgram(code);
  if (!parsed.ok) return code;
  const root = parsed.program.ast.program;
  if (boundNames(root).has(NAME)) return code;
  const edits = editSource(code);
  const names = new Map<string, string>();
  const requiring = new Map(root.body.map((statement) => [statement as Node, importsFor(statement)]));
  for (const { node } of visitNodes(root, (part) => requiring.get(part) === undefined && !isTypeOnly(part))) {
    if (isMainTest(node)) edits.overwrite(node.start ?? 0, node.end ?? 0, "true");
    const specifier = requiredBy(node);
    if (specifier === undefined) continue;
    const name = names.get(specifier) ?? `$required${names.size}`;
    names.set(specifier, name);
    edits.overwrite(node.start ?? 0, node.end ?? 0, name);
  }
  for (const [{ start, end }, imports] of requiring)
    if (imports !== undefined) edits.overwrite(start ?? 0, end ?? 0, imports);
  const edited = edits.toString();
  return names.size === 0 ? edited : beginWith([...names].map(importOf), edited);
}

function requiredBy(node: Node | null | undefined): string | undefined {
  if (node?.type !== "CallExpression" || !isNamed(node.callee, NAME)) return undefined;
  const [module] = node.arguments;
  return module?.type === "StringLiteral" ? module.value : undefined;
}

/** The imports for a statement that only requires modules: `const { join } = require("path"), fs = require("fs");`. */
function importsFor(statement: Statement): string | undefined {
  if (statement.type !== "VariableDeclaration" || statement.kind !== "const") return undefined;
  const imports = statement.declarations.map(({ id, init }) => importFor(id, requiredBy(init)));
  return imports.includes(undefined) ? undefined : imports.join(" ");
}

function importFor(pattern: Node, specifier: string | undefined): string | undefined {
  if (specifier === undefined || ("typeAnnotation" in pattern && pattern.typeAnnotation != null))
    return undefined;
  if (pattern.type === "Identifier") return importOf([specifier, pattern.name]);
  if (pattern.type !== "ObjectPattern" || specifier.endsWith(".json")) return undefined;
  const names = pattern.properties.map((property) => {
    if (property.type !== "ObjectProperty" || property.computed) return undefined;
    const { key, value } = property;
    if (key.type !== "Identifier" || value.type !== "Identifier") return undefined;
    return key.name === value.name ? key.name : `${key.name} as ${value.name}`;
  });
  return names.includes(undefined)
    ? undefined
    : `import { ${names.join(", ")} } from ${JSON.stringify(specifier)};`;
}

/** Inserts statements before all others, but after a hashbang. */
function beginWith(statements: readonly string[], code: string): string {
  const start = /^#!.*(?:\r?\n|$)/.exec(code)?.[0] ?? "";
  return `${start}${statements.join(" ")} ${code.slice(start.length)}`;
}

function importOf([specifier, name]: [string, string]): string {
  const from = JSON.stringify(specifier);
  if (specifier.endsWith(".json")) return `import ${name} from ${from} with { type: "json" };`;
  return isBuiltin(specifier) ? `import ${name} from ${from};` : `import * as ${name} from ${from};`;
}

function isMainTest(node: NodeVisit["node"]): boolean {
  if (node.type !== "BinaryExpression" || !node.operator.startsWith("==")) return false;
  const { left, right } = node;
  return (
    left.type === "MemberExpression" &&
    isNamed(left.object, NAME) &&
    isNamed(left.property, "main") &&
    isNamed(right, "module")
  );
}

/** Something that code may import. */
export interface Importable {
  name: string;
  module: string;
  /** The server of the module. */
  server: string;
}

/** A name that a program uses without declaring or importing it, with its first location. */
export interface MissingImport extends SourceLocation {
  name: string;
  module: string;
  /** The statement to write. */
  statement: string;
}

/** Missing imports of a program: the candidate imports by name. */
export type MissingImports = Map<string, MissingImport[]>;

/**
 * Finds the names of tools, and of servers as in `weather.get_weather()`, that a program uses without binding them. Names
 * of JavaScript globals are excluded.
 */
export function findMissingImports(program: Program, tools: readonly Importable[]): MissingImports {
  const missing: MissingImports = new Map();
  const named = namedIn(program, tools);
  if (named.length === 0) return missing;
  const root = program.ast.program;
  const used = namesUsedAtRunTime(root);
  const bound = boundNames(root);
  const wanted = named.filter(({ name }) => used.has(name) && !bound.has(name));
  if (wanted.length === 0) return missing;
  const places = firstPlaces(new Set(wanted.map(({ name }) => name)), root);
  for (const { name, module, isServer } of wanted) {
    const statement = `import ${isServer ? `* as ${name}` : `{ ${name} }`} from ${JSON.stringify(module)};`;
    const found = { name, module, statement, ...(places.get(name) ?? locationOf(root)) };
    missing.set(name, [...(missing.get(name) ?? []), found]);
  }
  return missing;
}

/** Whether code may call tools: it imports files, uses names that it does not bind, or can't be parsed. */
export function mayCallTools(code: string): boolean {
  const parsed = parseProgram(code);
  if (!parsed.ok || mayImportInExpression(code)) return true;
  if (parsed.program.imports.some(({ specifier }) => !isBuiltin(specifier))) return true;
  const root = parsed.program.ast.program;
  const bound = boundNames(root);
  const isBound = (name: string): boolean =>
    bound.has(name) || name in globalThis || (name !== NAME && GUEST_GLOBALS.has(name));
  return [...namesUsedAtRunTime(root)].some((name) => !isBound(name));
}

/**
 * Adds imports of tools and servers that a program uses without importing them, if there is only one candidate.
 *
 * @returns the code, with unchanged line numbers, and the added lines. Code with a syntax error is returned unchanged.
 */
export function addMissingImports(
  code: string,
  tools: readonly Importable[],
): { code: string; added: string[] } {
  const parsed = parseProgram(code);
  if (!parsed.ok) return { code, added: [] };
  const added = [...findMissingImports(parsed.program, tools).values()].flatMap((candidates) =>
    candidates.length === 1 ? candidates.map(({ statement }) => statement) : [],
  );
  return { code: added.length === 0 ? code : beginWith(added, code), added };
}

/** The tools and servers whose names occur in the code and are not imported. Most programs have none, and are not walked. */
function namedIn({ code, imports }: Program, tools: readonly Importable[]) {
  const words = new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));
  for (const { names } of imports)
    for (const { local } of names) if (local !== undefined) words.delete(local);
  const isUsed = (name: string): boolean =>
    words.has(name) && !(name in globalThis) && !GUEST_GLOBALS.has(name);
  const found: { name: string; module: string; isServer: boolean }[] = [];
  const servers = new Map<string, (typeof found)[number]>();
  // Each run checks all tools, so nothing is allocated for those that are not named.
  for (const { name, module, server } of tools) {
    if (isUsed(name)) found.push({ name, module, isServer: false });
    if (isUsed(server) && (words.has(name) || !meansBuiltin(server, words)))
      servers.set(server, { name: server, module, isServer: true });
  }
  return [...found, ...servers.values()];
}

/** Whether the words name a member of Node's module, as `fs.readFileSync` does, also where a server is called `fs`. */
function meansBuiltin(server: string, words: ReadonlySet<string>): boolean {
  const builtin = isBuiltin(server) ? process.getBuiltinModule(server) : undefined;
  return builtin !== undefined && [...words].some((word) => Object.hasOwn(builtin, word));
}

function firstPlaces(names: ReadonlySet<string>, root: Node): Map<string, SourceLocation> {
  const places = new Map<string, SourceLocation>();
  for (const { node, key } of runtimeNodes(root)) {
    if (node.type !== "Identifier" || key === "key" || key === "property") continue;
    if (names.has(node.name) && !places.has(node.name)) places.set(node.name, locationOf(node));
  }
  return places;
}

/** The names that a program declares or tests with `typeof`. */
function boundNames(root: Node): Set<string> {
  const names = new Set<string>();
  const bind = (pattern: Node | null | undefined): void => {
    for (const name of pattern == null ? [] : patternNames(pattern)) names.add(name);
  };
  for (const { node } of runtimeNodes(root)) {
    if (node.type === "VariableDeclarator" || node.type === "TSEnumDeclaration") bind(node.id);
    if (node.type === "CatchClause") bind(node.param);
    if (node.type === "UnaryExpression" && node.operator === "typeof") bind(node.argument);
    if (node.type.startsWith("Import") && "local" in node) bind(node.local);
    if ("params" in node && Array.isArray(node.params))
      for (const param of node.params as Node[]) bind(param);
    const declares = /^(?:Class|Function)(?:Declaration|Expression)$/.test(node.type);
    if (declares && "id" in node) bind(node.id);
  }
  return names;
}
