import type { Directive, Node, Statement } from "@babel/types";
import { nameOf } from "./imports.ts";
import { parseProgram } from "./parse-program.ts";
import type { Program } from "./parse-program.ts";
import { isTypeOnly, patternNames, visitNodes } from "./syntax-tree.ts";

/** Nodes in which `return` is not the program's. */
const FUNCTION = /(?:Function(?:Declaration|Expression)|Method)$/;
const RETURN = /\breturn\b/;
const MAIN = /^(?:main|run|execute|solve|task|program)$/u;

/**
 * Finds the last statement of a program where that is an expression, whose value is then the program's. Declarations of
 * functions and types may follow it. None where the program has a `return` of its own or a default export.
 *
 * @returns the statement, where the one before it ends (0 where it is the first), and whether it is a function without
 * parameters beside which nothing runs.
 */
export function findLastExpression({ ast, code }: Program) {
  const { body, directives } = ast.program;
  const statements = [...directives, ...body];
  let index = statements.length - 1;
  while (index >= 0 && hasNoValue(statements[index] as Statement)) index -= 1;
  const statement = statements[index];
  if (statement?.type !== "ExpressionStatement" && statement?.type !== "Directive") return undefined;
  // Such as "use strict".
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

/** Whether a program has a `return` of its own or a default export. */
function saysResult({ ast, code }: Pick<Program, "ast" | "code">): boolean {
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
  if (FUNCTION.test(statement.type)) return false;
  for (const { node } of visitNodes(statement, ({ type }) => !FUNCTION.test(type))) {
    if (node.type === "ReturnStatement") return true;
  }
  return false;
}

const TELLS_OTHERWISE = /\bmodule\.exports\b|\bexports\.|\bconsole\.|\bDeno\.stdout\b/u;

/**
 * Adds the export that a program lacks: of the variable that it declares last. A program that prints, or says a result in
 * any other way, is left alone, as is one with a syntax error.
 *
 * @returns the code, with its lines as they were, and the line that was added.
 */
export function exportLastValue(code: string): { code: string; added: string[] } {
  const parsed = parseProgram(code);
  if (!parsed.ok || saysResult(parsed.program)) return { code, added: [] };
  if (findLastExpression(parsed.program) !== undefined) return { code, added: [] };
  const { body } = parsed.program.ast.program;
  const line = TELLS_OTHERWISE.test(code) ? undefined : lastVariable(body);
  if (line === undefined) return { code, added: [] };
  return { code: `${code.trimEnd()}\n${line}\n`, added: [line] };
}

/** The export of the last variable that is no function. Loops and conditions after it may fill it. */
function lastVariable(body: readonly Statement[]): string | undefined {
  const names = body.flatMap((statement) => {
    if (statement.type !== "VariableDeclaration" || isTypeOnly(statement)) return [];
    return statement.declarations.flatMap(({ id, init }) =>
      init != null && /Function|Class/u.test(init.type) ? [] : [patternNames(id)],
    );
  });
  const last = names.at(-1) ?? [];
  if (last.length === 0) return undefined;
  return last.length === 1 ? `export default ${last[0]};` : `export default { ${last.join(", ")} };`;
}
