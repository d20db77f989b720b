import type { Node } from "@babel/types";
import { locationOf, type SourceLocation } from "./imports.ts";
import { parseProgram, type Program } from "./parse-program.ts";
import { namesUsedAtRunTime, runtimeNodes } from "./syntax-tree.ts";

/** Something that code may import. */
export interface Importable {
  name: string;
  module: string;
}

/** A name that a program uses and neither declares nor imports, and where it does so first. */
export interface MissingImport extends Importable, SourceLocation {
  /** The statement to write. */
  statement: string;
}

/** What is missing in a program: by name, each import that it may stand for. */
export type MissingImports = Map<string, MissingImport[]>;

/** Finds the names of tools that a program uses and binds nowhere. What JavaScript itself has by that name is not one. */
export function findMissingImports(program: Program, tools: readonly Importable[]): MissingImports {
  const missing: MissingImports = new Map();
  const named = namedIn(program, tools);
  if (named.length === 0) return missing;
  const { ast } = program;
  const used = namesUsedAtRunTime(ast.program);
  const bound = boundNames(ast.program);
  const wanted = named.filter(({ name }) => used.has(name) && !bound.has(name));
  for (const { name, module } of wanted) {
    const statement = `import { ${name} } from ${JSON.stringify(module)};`;
    const place = placeOf(name, ast.program);
    missing.set(name, [...(missing.get(name) ?? []), { name, module, statement, ...place }]);
  }
  return missing;
}

/**
 * Adds imports of tools that a program uses by name alone, where only one tool can be meant.
 *
 * @returns the code, with its lines as they were, and the lines that were added. Code with a syntax error is left alone.
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
  if (added.length === 0) return { code, added };
  // A hashbang is valid only at the start of a file.
  const start = /^#!.*(?:\r?\n|$)/.exec(code)?.[0] ?? "";
  return { code: `${start}${added.join(" ")} ${code.slice(start.length)}`, added };
}

/** The tools whose names stand anywhere in the code and are not imported. Most programs have none, and are not walked. */
function namedIn({ code, imports }: Program, tools: readonly Importable[]): Importable[] {
  const words = new Set(code.match(/[\p{ID_Start}$_][\p{ID_Continue}$]*/gu));
  for (const { names } of imports)
    for (const { local } of names) if (local !== undefined) words.delete(local);
  return tools.filter(({ name }) => words.has(name) && !(name in globalThis));
}

function placeOf(name: string, root: Node): SourceLocation {
  for (const { node, key } of runtimeNodes(root)) {
    if (node.type === "Identifier" && node.name === name && key !== "key" && key !== "property") {
      return locationOf(node);
    }
  }
  return locationOf(root);
}

/** The names that a program declares anywhere, or tests with `typeof`. */
export function boundNames(root: Node): Set<string> {
  const names = new Set<string>();
  const bind = (pattern: Node | null | undefined): void => {
    for (const { node, key } of pattern == null ? [] : runtimeNodes(pattern)) {
      if (node.type === "Identifier" && key !== "key") names.add(node.name);
    }
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
