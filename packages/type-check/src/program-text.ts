import { parseProgram, runtimeNodes, type NodeVisit, type Program, visitNodes } from "@cem/program";
import { UnreadableProgram } from "./compiler/diagnostics.ts";
import { END_OF_PROGRAM } from "./compiler/guest-globals.ts";

const RETURN = "return";
const THROW = "throw ";

/** Statements that contain others. A `return` in any of them belongs to the program, unless a function is in between. */
const HOLDS_STATEMENTS = /^(?:\w+Statement|CatchClause|SwitchCase)$/u;

/**
 * Creates the text that TypeScript checks instead of the program. All positions are the same as in the program.
 *
 * TypeScript refuses a top-level `return` and checks nothing in it. `throw` takes a value of any type and ends the
 * program as well, so that control flow analysis of the rest is right.
 *
 * @returns the text; `undefined` for a program with a syntax error.
 * @throws UnreadableProgram
 */
export function checkedText(code: string): string | undefined {
  const parsed = parseProgram(code);
  if (!parsed.ok) {
    const { line, message } = parsed.error;
    if (line === undefined) throw new UnreadableProgram(message.replace(/^The/u, "the"));
    return undefined;
  }
  const parts: string[] = [];
  let end = 0;
  for (const { start, text } of readReturns(parsed.program)) {
    parts.push(code.slice(end, start), text);
    end = start + text.length;
  }
  const text = [...parts, code.slice(end)].join("");
  // A byte order mark has no width for TypeScript, and half a character can't be sent.
  return text.replace(/^\uFEFF/u, " ").toWellFormed();
}

/** A replacement for a part of the code, of the same length. */
interface Overlay {
  start: number;
  text: string;
}

/** The replacements of the top-level `return`s, in their order. */
function readReturns({ code, ast }: Program): Overlay[] {
  if (!code.includes(RETURN)) return [];
  const statements = visitNodes(ast.program, ({ type }) => HOLDS_STATEMENTS.test(type));
  return [...statements].flatMap(({ node }): Overlay[] => {
    if (node.type !== "ReturnStatement") return [];
    const start = node.start ?? 0;
    if (node.argument != null) return [{ start, text: THROW }];
    // Without a semicolon the next line might continue the call.
    const isEnded = code.charAt((node.end ?? 0) - 1) === ";";
    const hasRoom = /\s/u.test(code.charAt(start + RETURN.length));
    return [{ start, text: `${END_OF_PROGRAM}()${!isEnded && hasRoom ? ";" : ""}` }];
  });
}

type Node = NodeVisit["node"];
type Parents = ReadonlyMap<Node, Node | undefined>;

/** Objects whose methods return promises. */
const ASYNC_OBJECTS = new Set(["Deno", "Promise", "crypto"]);
const PROMISE = new Set(["Promise"]);
const MAP = new Set(["map"]);
/** Maximum number of enclosing expressions to examine. */
const MAX_STEPS = 50;
const WAITS_FOR_ALL = new Set(["all", "allSettled", "any", "race"]);

/**
 * Whether a program calls something that may return a promise without awaiting it directly. Most programs don't, and
 * the types of their expressions need not be examined.
 */
export function mayLackAwait(code: string): boolean {
  const parsed = parseProgram(code);
  if (!parsed.ok) return false;
  const { ast, imports } = parsed.program;
  const parents = new Map<Node, Node | undefined>();
  for (const { node, parent } of runtimeNodes(ast.program)) parents.set(node, parent);
  const imported = imports.flatMap(({ names }) => names.flatMap(({ local }) => local ?? []));
  const own = new Set(asyncNames(parents));
  const names = new Set(["fetch", ...imported, ...own]);
  const objects = new Set([...ASYNC_OBJECTS, ...imported]);
  for (const [node] of parents) {
    if (mayBePromise(node, names, objects) && !isAwaited(node, parents, own)) return true;
  }
  return false;
}

function asyncNames(nodes: Parents): string[] {
  const names: string[] = [];
  for (const [node, parent] of nodes) {
    if (!("async" in node) || !node.async) continue;
    for (const owner of [node, parent]) {
      if (owner === undefined) continue;
      for (const key of ["id", "key", "left"] as const) {
        const named = (owner as Partial<Record<typeof key, unknown>>)[key];
        const name = (named as { name?: unknown } | null | undefined)?.name;
        if (typeof name === "string") names.push(name);
      }
    }
  }
  return names;
}

function mayBePromise(node: Node, names: ReadonlySet<string>, objects: ReadonlySet<string>): boolean {
  if (node.type === "ArrowFunctionExpression" || node.type === "FunctionExpression") return node.async;
  if (node.type === "NewExpression") return isNamed(node.callee, ASYNC_OBJECTS);
  if (node.type === "Identifier") return names.has(node.name);
  if (node.type !== "CallExpression" && node.type !== "OptionalCallExpression") return false;
  const { callee } = node;
  if (callee.type !== "MemberExpression" && callee.type !== "OptionalMemberExpression") return false;
  return isNamed(callee.property, names) || isNamed(callee.object, objects);
}

function isNamed(node: Node, names: ReadonlySet<string>): boolean {
  return node.type === "Identifier" && names.has(node.name);
}

/**
 * Whether a promise is awaited right where it is created: by `await`, within an awaited `Promise.all(…)`, or as an
 * argument of an async function of the program. Not determined for a very long chain of calls.
 */
function isAwaited(node: Node, parents: Parents, own: ReadonlySet<string>): boolean {
  let at: Node | boolean = node;
  for (let steps = 0; steps < MAX_STEPS && typeof at !== "boolean"; steps += 1)
    at = holderOf(at, parents, own);
  return at === true;
}

/** The expression to examine in place of the node; or whether the node itself is awaited, when its parent decides that. */
function holderOf(node: Node, parents: Parents, own: ReadonlySet<string>): Node | boolean {
  const parent = parents.get(node);
  if (parent === undefined || isDeclaration(parent, node)) return true;
  if (parent.type === "AwaitExpression" || parent.type === "ExpressionStatement") return true;
  if (isWaitForAll(parent)) return parent;
  if (parent.type === "CallExpression" && parent.callee === node) return parent;
  // The function's own promise is examined where it is called.
  if (parent.type === "CallExpression" && isNamed(parent.callee, own)) return true;
  if (parent.type === "MemberExpression") {
    // `a().then(…)`.
    const call = parents.get(parent);
    return call?.type === "CallExpression" && call.callee === parent ? call : false;
  }
  // `Promise.all([a(), b()])` and `Promise.all(list.map((item) => a(item)))`.
  const isInList = parent.type === "ArrayExpression" || isArrowBody(parent, node) || isMap(parent, node);
  const outer = parents.get(parent);
  if (!isInList || outer === undefined) return false;
  return isWaitForAll(outer) || isMap(outer, parent) ? parent : false;
}

/** Whether the node is the name of a function, an import or a member, rather than a value in use. */
function isDeclaration(parent: Node, node: Node): boolean {
  if (parent.type.startsWith("Import") && parent.type !== "ImportExpression") return true;
  if (parent.type === "VariableDeclarator") return parent.id === node || node.type !== "CallExpression";
  if (parent.type === "MemberExpression") return node.type === "Identifier";
  if ("key" in parent && parent.key === node) return true;
  return "id" in parent && parent.id === node;
}

function isWaitForAll(node: Node): boolean {
  if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
  const { object, property } = node.callee;
  return isNamed(object, PROMISE) && isNamed(property, WAITS_FOR_ALL);
}

function isArrowBody(parent: Node, node: Node): boolean {
  return parent.type === "ArrowFunctionExpression" && parent.body === node;
}

function isMap(parent: Node, node: Node): boolean {
  if (parent.type !== "CallExpression" || parent.callee === node) return false;
  return parent.callee.type === "MemberExpression" && isNamed(parent.callee.property, MAP);
}
