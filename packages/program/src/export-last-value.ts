import type { Directive, Node, Statement } from "@babel/types";
import { defaultExport, FUNCTION, isExports, mentionedExport } from "./default-export.ts";
import { literalValue } from "./literal-value.ts";
import { parseProgram, type Program } from "./parse-program.ts";
import { patternNames } from "./scopes.ts";
import { isNamed, isTypeOnly, visitNodes } from "./syntax-tree.ts";

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
  const isSkipped = (own: Statement): boolean => hasNoValue(own) || exportsMentioned(own, { ast, code });
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

/**
 * The name of the main function without parameters, exported or not, of a program that only declares functions and
 * constants of literals.
 */
export function findMain({ ast }: Pick<Program, "ast">): string | undefined {
  const own = ast.program.body.map((statement) =>
    statement.type === "ExportNamedDeclaration" ? (statement.declaration ?? statement) : statement,
  );
  if (!own.every((statement) => hasNoValue(statement) || declaresLiterals(statement))) return undefined;
  const mains = own
    .flatMap((statement) => namedFunctions(statement))
    .filter(([name, node]) => {
      return MAIN.test(name) && isPlainFunction(node);
    });
  return mains.length === 1 ? mains[0]?.[0] : undefined;
}

/** Whether a statement declares variables of literals or functions, which runs no code. A pattern may have default values. */
function declaresLiterals(statement: Statement): boolean {
  if (statement.type !== "VariableDeclaration") return false;
  return statement.declarations.every(
    ({ id, init }) =>
      id.type === "Identifier" &&
      (init == null || FUNCTION.test(init.type) || literalValue(init) !== undefined),
  );
}

function namedFunctions(statement: Statement): [name: string, node: Node][] {
  if (statement.type === "FunctionDeclaration") return [[statement.id?.name ?? "", statement]];
  if (statement.type !== "VariableDeclaration") return [];
  return statement.declarations.flatMap(({ id, init }): [string, Node][] =>
    id.type === "Identifier" && init != null && FUNCTION.test(init.type) ? [[id.name, init]] : [],
  );
}

/**
 * The text of the parameters of a default export that requires some, although it is called without arguments.
 * `undefined` where the program may call it itself, or return before.
 */
export function requiredParameters(code: string): string | undefined {
  const parsed = parseProgram(code);
  if (!parsed.ok || mentionedExport(parsed.program) !== undefined) return undefined;
  const { body } = parsed.program.ast.program;
  if (body.some(returns)) return undefined;
  const [exported] = body.flatMap((own) => defaultExport(own) ?? []);
  const declared = body.map((own) => ("declaration" in own ? (own.declaration ?? own) : own) as Statement);
  const named =
    exported?.type === "Identifier" && new Map(declared.flatMap(namedFunctions)).get(exported.name);
  const { params: all = [] } = (named || exported || {}) as { params?: Node[] };
  const params = all.filter((param) => !isNamed(param, "this"));
  const [first] = params;
  const isRequired =
    first?.type === "ObjectPattern" || (first?.type === "Identifier" && first.optional !== true);
  return isRequired ? code.slice(first.start ?? 0, params.at(-1)?.end ?? 0) : undefined;
}

/** Whether a program has a top-level `return`, or a default export that it does not mention elsewhere. */
function saysResult({ ast, code }: Pick<Program, "ast" | "code">): boolean {
  const { body } = ast.program;
  if (body.some((own) => defaultExport(own)) && mentionedExport({ ast, code }) === undefined) return true;
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

/** Whether a statement exports what the program mentions elsewhere, or, in CommonJS style, an object that may contain such functions. */
function exportsMentioned(statement: Statement, program: Pick<Program, "ast" | "code">): boolean {
  if (statement.type === "ExportDefaultDeclaration") return mentionedExport(program) !== undefined;
  if (statement.type !== "ExpressionStatement" || statement.expression.type !== "AssignmentExpression")
    return false;
  const { left, right } = statement.expression;
  return isExports(left) && (right.type === "ObjectExpression" || mentionedExport(program) !== undefined);
}

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
  if ((findLastExpression(parsed.program) ?? findMain(parsed.program)) !== undefined)
    return { code, added: [] };
  const { body } = parsed.program.ast.program;
  const hasDefault = body.some((own) => defaultExport(own));
  // Anything but a function that it calls itself is its result.
  if (hasDefault && !callsExport(parsed.program)) return { code, added: [] };
  const value = TELLS_OTHERWISE.test(code) ? undefined : lastVariable(body);
  if (value === undefined) return { code, added: [] };
  const line = `${hasDefault ? "return" : "export default"} ${value};`;
  return { code: `${code.trimEnd()}\n${line}\n`, added: [line] };
}

/** Whether the default export is a function that code at the top level calls. */
function callsExport(program: Program): boolean {
  const { functions = new Map<never, boolean>(), isCalled = false } = mentionedExport(program) ?? {};
  return isCalled && functions.size > 0 && [...functions.values()].every(Boolean);
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
