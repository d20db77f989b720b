import type { Statement } from "@babel/types";
import { findLastExpression, saysResult } from "./last-expression.ts";
import { parseProgram } from "./parse-program.ts";
import { patternNames } from "./pattern-names.ts";
import { isTypeOnly } from "./syntax-tree.ts";

const TELLS_OTHERWISE = /\bmodule\.exports\b|\bexports\.|\bconsole\.|\bDeno\.stdout\b/u;
const MAIN = /^(?:main|run|execute|solve|task|program)$/u;

/**
 * Adds the export that a program lacks: of the variable that it declares last, or of what its main function returns, which
 * nothing calls. A program that prints, or says a result in any other way, is left alone, as is one with a syntax error.
 *
 * @returns the code, with its lines as they were, and the line that was added.
 */
export function exportLastValue(code: string): { code: string; added: string[] } {
  const parsed = parseProgram(code);
  if (!parsed.ok || saysResult(parsed.program)) return { code, added: [] };
  if (findLastExpression(parsed.program) !== undefined) return { code, added: [] };
  const { body } = parsed.program.ast.program;
  const line = callOfMain(body) ?? (TELLS_OTHERWISE.test(code) ? undefined : lastVariable(body));
  if (line === undefined) return { code, added: [] };
  return { code: `${code.trimEnd()}\n${line}\n`, added: [line] };
}

/** The call of a main function without parameters, where the program does nothing else. */
function callOfMain(body: readonly Statement[]): string | undefined {
  const isIdle = body.every(({ type }) => type === "ImportDeclaration" || type === "FunctionDeclaration");
  const mains = body.flatMap((statement) => {
    const isMain = statement.type === "FunctionDeclaration" && statement.params.length === 0;
    return isMain && MAIN.test(statement.id?.name ?? "") ? [statement] : [];
  });
  const [main] = mains;
  if (!isIdle || mains.length !== 1 || main?.id == null) return undefined;
  return `export default await ${main.id.name}();`;
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
