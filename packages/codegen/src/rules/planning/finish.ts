import {
  type Expression,
  literal,
  namesIn,
  object,
  type Program,
  type Statement,
} from "../program/expression.ts";
import { helperCode } from "../program/helpers.ts";
import type { Plan } from "./plan.ts";

/** Turns what was planned into a program: files written, and one value at the end. */
export function finishProgram(plan: Plan): Program {
  plan.flush();
  const value = chooseValue(plan);
  const used = namesIn(value);
  collectNames(plan.block, used);
  return { imports: plan.imports, helpers: helperCode(used), statements: plan.block, value };
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

function collectNames(statements: readonly Statement[], used: Set<string>): void {
  for (const statement of statements) {
    for (const expression of expressionsIn(statement)) for (const name of namesIn(expression)) used.add(name);
    if (statement.kind === "if") collectNames([...statement.body, ...statement.otherwise], used);
  }
}

function expressionsIn(statement: Statement): Expression[] {
  switch (statement.kind) {
    case "assign":
      return [statement.target, statement.value];
    case "comment":
      return [];
    case "throw":
      return [statement.message];
    case "if":
      return [statement.test];
    default:
      return [statement.value];
  }
}
