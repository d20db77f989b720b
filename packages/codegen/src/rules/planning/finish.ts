import { type Expression, literal, object } from "../program/expression.ts";
import { printProgram } from "../program/print-program.ts";
import type { Plan } from "./plan.ts";

/** Prints what was planned as a program: files written, and one value at the end. */
export function finishProgram(plan: Plan): string {
  plan.flush();
  return printProgram({ imports: plan.imports, statements: plan.block, value: chooseValue(plan) });
}

/** The results that fed no other result; one stands alone, several get their names. */
function chooseValue(plan: Plan): Expression {
  const open = plan.values.filter((value) => !value.consumed);
  const [only] = open;
  if (only === undefined)
    return plan.lastPath === undefined ? literal(true) : object({ path: literal(plan.lastPath) });
  if (open.length === 1) return only.expression;
  return object(Object.fromEntries(open.map((value) => [value.name, value.expression])));
}
