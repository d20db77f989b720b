import type { Directive, File, Node, Statement } from "@babel/types";
import { nameOf } from "./imports.ts";
import { parseProgram } from "./parse-program.ts";
import type { Program } from "./parse-program.ts";
import { isLabel, isNamed, isTypeOnly, patternNames, runtimeNodes, visitNodes } from "./syntax-tree.ts";
import type { NodeVisit } from "./syntax-tree.ts";

/** Nodes in which `return` does not belong to the program. */
const FUNCTION = /(?:Function(?:Declaration|Expression)|Method)$/;
const RETURN = /\breturn\b/;
/** Declarations that a default export names without evaluating anything. */
const NAMED = /^(?:Identifier|FunctionDeclaration)$/;
const MAIN = /^(?:main|run|execute|solve|task|program)$/u;

/**
 * Finds the last statement of a program if it is an expression, whose value then becomes the program's. Declarations of
 * functions and types may follow it. None if the program has a top-level `return` or a default export.
 *
 * @returns the statement, the end of the previous one (0 if it is the first), and whether it is a function without
 * parameters and the only code that runs.
 */
export function findLastExpression({ ast, code }: Program) {
  const { body, directives } = ast.program;
  const statements = [...directives, ...body];
  let index = statements.length - 1;
  const isSkipped = (own: Statement): boolean => hasNoValue(own) || exportsFunctions(own, ast);
  while (index >= 0 && isSkipped(statements[index] as Statement)) index -= 1;
  const statement = statements[index];
  if (statement?.type !== "ExpressionStatement" && statement?.type !== "Directive") return undefined;
  // A directive such as "use strict".
  if (statement.type === "Directive" && statement.value.value.startsWith("use ")) return undefined;
  if (saysResult({ ast, code })) return undefined;
  const isFunction = statement.type === "ExpressionStatement" && isPlainFunction(statement.expression);
  const isMain = isFunction && body.every((own) => own === statement || hasNoValue(own));
  return { statement, after: statements[index - 1]?.end ?? 0, isMain };
}

function isPlainFunction(node: Node): boolean {
  return FUNCTION.test(node.type) && "params" in node && node.params.length === 0;
}

/** The name of the main function without parameters, exported or not, of a program that only declares functions. */
export function findMain({ ast }: Pick<Program, "ast">): string | undefined {
  const own = ast.program.body.map((statement) =>
    statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? statement) : statement,
  );
  if (!own.every(hasNoValue)) return undefined;
  const mains = own.flatMap((statement) => {
    const name = statement.type === "FunctionDeclaration" ? (statement.id?.name ?? "") : "";
    return MAIN.test(name) && isPlainFunction(statement) ? [name] : [];
  });
  return mains.length === 1 ? mains[0] : undefined;
}

/** Whether a program has a top-level `return`, or a default export that it does not call itself. */
function saysResult({ ast, code }: Pick<Program, "ast" | "code">): boolean {
  const { body } = ast.program;
  const names = body.flatMap((own) => defaultOf(own) ?? []);
  if (names.some((name) => !calledInside({ ast }).has(name))) return true;
  return RETURN.test(code) && body.some((own) => returns(own));
}

function hasNoValue(statement: Statement | Directive): boolean {
  const { type } = statement;
  if (type === "EmptyStatement" || type === "FunctionDeclaration" || type === "ImportDeclaration")
    return true;
  if (type === "ExportNamedDeclaration") return statement.declaration == null;
  if (type === "ExportDefaultDeclaration" && NAMED.test(statement.declaration.type)) return true;
  return type !== "Directive" && isTypeOnly(statement);
}

/** The name of a statement's default export; empty for an unnamed value. */
function defaultOf(statement: Statement): string | undefined {
  if (statement.type === "ExportDefaultDeclaration") {
    const { declaration } = statement;
    if (isTypeOnly(declaration)) return undefined;
    if (declaration.type === "Identifier") return declaration.name;
    return declaration.type === "FunctionDeclaration" ? (declaration.id?.name ?? "") : "";
  }
  if (statement.type !== "ExportNamedDeclaration") return undefined;
  const found = statement.specifiers.find(({ exported }) => nameOf(exported) === "default");
  return found?.type === "ExportSpecifier" && statement.source == null ? nameOf(found.local) : found && "";
}

const called = new WeakMap<File, ReadonlySet<string>>();

/**
 * The functions that a program calls itself or passes on. If it exports one, it must not be called again, which would
 * repeat its work.
 */
export function calledInside({ ast }: Pick<Program, "ast">): ReadonlySet<string> {
  const found = called.get(ast) ?? findCalled(ast);
  called.set(ast, found);
  return found;
}

function findCalled({ program }: File): Set<string> {
  const own = new Map<string, Node>();
  for (const statement of program.body) {
    const declared = "declaration" in statement ? (statement.declaration ?? statement) : statement;
    for (const node of declared.type === "VariableDeclaration" ? declared.declarations : [declared]) {
      const type = node.type === "VariableDeclarator" ? (node.init?.type ?? "") : node.type;
      if (FUNCTION.test(type) && "id" in node && node.id?.type === "Identifier") own.set(node.id.name, node);
    }
  }
  const names = new Set<string>();
  for (const visit of own.size === 0 ? [] : runtimeNodes(program)) {
    const { node } = visit;
    const { start, end } = (node.type === "Identifier" ? own.get(node.name) : undefined) ?? {};
    if (node.type !== "Identifier" || node.start == null || start == null || end == null) continue;
    if ((node.start < start || node.start >= end) && !isLabel(visit) && !isExported(visit))
      names.add(node.name);
  }
  return names;
}

/**
 * Whether a statement exports, in CommonJS style, a function that the program calls itself, or an object that may contain
 * such functions.
 */
function exportsFunctions(statement: Statement, ast: Program["ast"]): boolean {
  if (statement.type !== "ExpressionStatement" || statement.expression.type !== "AssignmentExpression")
    return false;
  const { left, right } = statement.expression;
  const isObject = right.type === "ObjectExpression";
  return (
    isExports(left) && (isObject || (right.type === "Identifier" && calledInside({ ast }).has(right.name)))
  );
}

function isExported({ parent, key }: NodeVisit): boolean {
  if (parent?.type === "AssignmentExpression") return key === "right" && isExports(parent.left);
  return parent?.type === "ExportDefaultDeclaration" || parent?.type === "ExportSpecifier";
}

/** Whether it is `module.exports`, or a member of it or of `exports`. */
export function isExports(target: Node): boolean {
  for (let at = target; at.type === "MemberExpression"; at = at.object) {
    const { object, property } = at;
    if (isNamed(object, "exports")) return true;
    if (isNamed(object, "module") && isNamed(property, "exports")) return true;
  }
  return false;
}

/** Whether a statement of the program returns from it. */
function returns(statement: Statement): boolean {
  if (FUNCTION.test(statement.type)) return false;
  for (const { node } of visitNodes(statement, ({ type }) => !FUNCTION.test(type))) {
    if (node.type === "ReturnStatement") return true;
  }
  return false;
}

const TELLS_OTHERWISE = /\bmodule\.exports\b|\bexports\.|\bconsole\.|\bDeno\.stdout\b/u;

/**
 * Adds a missing export: of the variable that is declared last. A program that prints or returns a result in another way is
 * left unchanged, as is one with a syntax error.
 *
 * @returns the code, with unchanged line numbers, and the added line.
 */
export function exportLastValue(code: string): { code: string; added: string[] } {
  const parsed = parseProgram(code);
  if (!parsed.ok || saysResult(parsed.program)) return { code, added: [] };
  if (findLastExpression(parsed.program) !== undefined) return { code, added: [] };
  const { body } = parsed.program.ast.program;
  const value = TELLS_OTHERWISE.test(code) ? undefined : lastVariable(body);
  if (value === undefined) return { code, added: [] };
  const hasDefault = body.some((own) => defaultOf(own) !== undefined);
  const line = `${hasDefault ? "return" : "export default"} ${value};`;
  return { code: `${code.trimEnd()}\n${line}\n`, added: [line] };
}

/** The last variable that is not a function. Loops and conditions after it may fill it. */
function lastVariable(body: readonly Statement[]): string | undefined {
  const names = body.flatMap((statement) => {
    if (statement.type !== "VariableDeclaration" || isTypeOnly(statement)) return [];
    return statement.declarations.flatMap(({ id, init }) =>
      init != null && /Function|Class/u.test(init.type) ? [] : [patternNames(id)],
    );
  });
  const last = names.at(-1) ?? [];
  return last.length > 1 ? `{ ${last.join(", ")} }` : last[0];
}
