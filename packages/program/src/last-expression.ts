import type { Directive, ExpressionStatement, Statement } from "@babel/types";
import { nameOf } from "./imports.ts";
import type { Program } from "./parse-program.ts";
import { isTypeOnly, visitNodes } from "./syntax-tree.ts";

/** The expression at the end of a program that says no other result. */
export interface LastExpression {
  statement: ExpressionStatement | Directive;
  /** Where the statement before it ends; 0 where it is the first. */
  after: number;
}

/** Nodes in which `return` is not the program's. */
const FUNCTIONS = new Set([
  "ArrowFunctionExpression",
  "ClassMethod",
  "ClassPrivateMethod",
  "FunctionDeclaration",
  "FunctionExpression",
  "ObjectMethod",
]);
const RETURN = /\breturn\b/;

/**
 * Finds the last statement of a program where that is an expression, whose value is then the program's. Declarations of
 * functions and types may follow it. None where the program has a `return` of its own or a default export.
 */
export function findLastExpression({ ast, code }: Program): LastExpression | undefined {
  const { body, directives } = ast.program;
  const statements = [...directives, ...body];
  let index = statements.length - 1;
  while (index >= 0 && hasNoValue(statements[index] as Statement)) index -= 1;
  const statement = statements[index];
  if (statement?.type !== "ExpressionStatement" && statement?.type !== "Directive") return undefined;
  // Such as "use strict".
  if (statement.type === "Directive" && statement.value.value.startsWith("use ")) return undefined;
  if (saysResult({ ast, code })) return undefined;
  return { statement, after: statements[index - 1]?.end ?? 0 };
}

/** Whether a program has a `return` of its own or a default export. */
export function saysResult({ ast, code }: Pick<Program, "ast" | "code">): boolean {
  const { body } = ast.program;
  return body.some((own) => exportsDefault(own)) || (RETURN.test(code) && body.some((own) => returns(own)));
}

function hasNoValue(statement: Statement | Directive): boolean {
  const { type } = statement;
  if (type === "EmptyStatement" || type === "FunctionDeclaration" || type === "ImportDeclaration")
    return true;
  return type !== "Directive" && isTypeOnly(statement);
}

function exportsDefault(statement: Statement): boolean {
  if (statement.type === "ExportDefaultDeclaration") return !isTypeOnly(statement.declaration);
  if (statement.type !== "ExportNamedDeclaration") return false;
  return statement.specifiers.some(({ exported }) => nameOf(exported) === "default");
}

/** Whether a statement of the program returns from it. */
function returns(statement: Statement): boolean {
  if (FUNCTIONS.has(statement.type)) return false;
  for (const { node } of visitNodes(statement, ({ type }) => !FUNCTIONS.has(type))) {
    if (node.type === "ReturnStatement") return true;
  }
  return false;
}
