import type { Node } from "@babel/types";
import type { Program } from "./parse-program.ts";
import { isLabel, patternNames, runtimeNodes, type NodeVisit } from "./syntax-tree.ts";

/**
 * What a program has beside its own variables in a realm with the language and tools alone. `module` and `exports` are the
 * program's own, where it gives its value by them.
 */
const LIGHT = new Set(
  "Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError DisposableStack AsyncDisposableStack JSON Math Intl ArrayBuffer DataView Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array Uint8ClampedArray Float16Array Float32Array Float64Array Map Set WeakMap WeakSet BigInt Iterator Proxy Reflect decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN queueMicrotask setTimeout setInterval setImmediate clearTimeout clearInterval clearImmediate atob btoa TextEncoder arguments module exports".split(
    " ",
  ),
);
/** Objects of the runtime of which such a realm has some members. */
const LIGHT_MEMBERS: Readonly<Record<string, ReadonlySet<string>>> = {
  console: new Set(
    "log info debug warn error trace assert count countReset dir group groupCollapsed groupEnd".split(" "),
  ),
  Deno: new Set(
    "readTextFile writeTextFile mkdir remove rename copyFile readDir"
      .split(" ")
      .flatMap((name) => [name, `${name}Sync`]),
  ),
  performance: new Set(["now", "timeOrigin"]),
  crypto: new Set(["randomUUID"]),
  Error: new Set(["captureStackTrace", "isError", "prototype"]),
  Function: new Set(["prototype"]),
};
const MODULE = /^(?:cem:client$|\.{0,2}\/|file:|servers\/|skills\/|data:)/;

interface Scope {
  /** Where `let`, `const`, classes and functions are declared. */
  block: Node;
  /** Where `var` is declared. */
  body: Node;
}

interface Reference {
  name: string;
  visit: NodeVisit;
}

/**
 * Whether a program may use more than the language, tools, `console` and timers: any other name that is not its own, a module
 * of the runtime, or code made of text.
 */
export function needsRuntime({ ast, imports, dynamicImports }: Program): boolean {
  const specifiers = [...imports.filter(({ typeOnly }) => !typeOnly), ...dynamicImports];
  if (specifiers.some(({ specifier }) => !MODULE.test(specifier))) return true;
  const scopes = new Map<Node, Scope>();
  /** By name, the nodes within which it is a variable of the program. */
  const declared = new Map<string, Node[]>();
  const references: Reference[] = [];
  let dynamic = 0;
  const declare = (names: readonly string[], within: Node): void => {
    for (const name of names) {
      const found = declared.get(name);
      if (found === undefined) declared.set(name, [within]);
      else found.push(within);
    }
  };
  for (const visit of runtimeNodes(ast.program)) {
    const { node, parent } = visit;
    const outer = (parent && scopes.get(parent)) ?? { block: ast.program, body: ast.program };
    scopes.set(node, scopeWithin(node, outer));
    if (node.type === "ImportExpression") dynamic += 1;
    if (node.type === "VariableDeclarator" && parent?.type === "VariableDeclaration")
      declare(patternNames(node.id), parent.kind === "var" ? outer.body : outer.block);
    else if (node.type === "CatchClause" && node.param != null) declare(patternNames(node.param), node);
    else if (node.type === "TSEnumDeclaration") declare([node.id.name], outer.block);
    else if (node.type === "TSModuleDeclaration") declare([namespaceName(node.id)], outer.block);
    else if ("params" in node && Array.isArray(node.params)) declare(node.params.flatMap(patternNames), node);
    if (isNamedDeclaration(node) && node.id?.type === "Identifier")
      declare([node.id.name], node.type.endsWith("Expression") ? node : outer.block);
    if (parent?.type.startsWith("Import") === true && visit.key === "local" && node.type === "Identifier")
      declare([node.name], ast.program);
    if (node.type === "Identifier" && !isLabel(visit)) references.push({ name: node.name, visit });
  }
  if (dynamic > dynamicImports.length) return true;
  return references.some(
    ({ name, visit }) => !isLight(name, visit) && !isDeclared(visit.node, declared.get(name)),
  );
}

function isNamedDeclaration(node: Node): node is Node & { id?: Node | null } {
  return /^(?:Function|Class)(?:Declaration|Expression)$/.test(node.type);
}

/** The first name of `A.B.C`. */
function namespaceName(id: Node): string {
  if (id.type === "TSQualifiedName") return namespaceName(id.left);
  return id.type === "Identifier" ? id.name : "";
}

function scopeWithin(node: Node, outer: Scope): Scope {
  if ("params" in node) return { block: node, body: node };
  if (node.type === "StaticBlock" || node.type === "TSModuleBlock") return { block: node, body: node };
  return /^(?:Block|For|Switch|Catch|Class)/.test(node.type) ? { block: node, body: outer.body } : outer;
}

function isDeclared(node: Node, scopes: readonly Node[] = []): boolean {
  const at = node.start ?? 0;
  return scopes.some(({ start, end }) => (start ?? 0) <= at && at < (end ?? 0));
}

function isLight(name: string, { node, parent }: NodeVisit): boolean {
  if (name === "TextDecoder") return isNewWithoutArguments(node, parent);
  const members = Object.hasOwn(LIGHT_MEMBERS, name) ? LIGHT_MEMBERS[name] : undefined;
  const isMember =
    parent?.type === "MemberExpression" && parent.object === node && !parent.computed
      ? parent.property
      : undefined;
  if (isMember?.type === "Identifier" && members !== undefined) return members.has(isMember.name);
  if (name === "Error") return true;
  if (name === "Function") return parent?.type === "BinaryExpression" && parent.operator === "instanceof";
  return LIGHT.has(name);
}

function isNewWithoutArguments(node: Node, parent: Node | undefined): boolean {
  return parent?.type === "NewExpression" && parent.callee === node && parent.arguments.length === 0;
}
