import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import { isNumeric, type Value } from "../../planning/value.ts";
import { binary, call, type Expression, literal, method, name, not } from "../../program/expression.ts";
import { cellOf, type Columns } from "./columns.ts";
import type { Condition } from "./selection.ts";

/** A condition as a test of one row. */
export function lowerCondition(
  plan: Plan,
  rows: Value,
  columns: Columns,
  row: Expression,
  condition: Condition,
): Expression {
  const lower = (part: Condition): Expression => lowerCondition(plan, rows, columns, row, part);
  switch (condition.kind) {
    case "all":
    case "any": {
      const [first = literal(true), ...more] = condition.of.map(lower);
      return more.reduce((left, right) => binary(left, condition.kind === "all" ? "&&" : "||", right), first);
    }
    case "not":
      return not(lower(condition.of));
    case "holds":
      return columns.isPlain
        ? call(useHelper("equals"), row, literal(condition.word))
        : call(predicateFor(plan, rows, condition.word.toLowerCase()), row);
    case "set":
      return call(useHelper("isSet"), cellOf(plan, rows, row, condition.column));
    case "text": {
      const text = method(call("String", cellOf(plan, rows, row, condition.column)), "toLowerCase");
      return method(text, condition.test, literal(condition.value.toLowerCase()));
    }
    case "date": {
      const text = call("String", cellOf(plan, rows, row, condition.column));
      if (condition.operator === "starts") return method(text, "startsWith", literal(condition.value));
      const day = condition.value.length === 10 ? method(text, "slice", literal(0), literal(10)) : text;
      return binary(day, condition.operator, literal(condition.value));
    }
    case "compare":
      return compare(
        cellOf(plan, rows, row, condition.column),
        condition,
        isNumeric(columns.schemaOf(condition.column)),
      );
  }
}

function compare(
  cell: Expression,
  { operator, value }: Condition & { kind: "compare" },
  isNumber: boolean,
): Expression {
  if (operator === "===")
    return isNumber && typeof value === "number"
      ? binary(cell, "===", literal(value))
      : call(useHelper("equals"), cell, literal(value));
  const bound = binary(cell, operator, literal(value));
  if (isNumber) return bound;
  return binary(
    binary({ kind: "unary", operator: "typeof ", value: cell }, "===", literal("number")),
    "&&",
    bound,
  );
}

/** `const isActive = holds(users, "active")`, once for the rows it is about. */
function predicateFor(plan: Plan, rows: Value, word: string): Expression {
  const variable = plan.names.take(`is ${word}`, "isMatch");
  plan.add({
    kind: "const",
    name: variable,
    value: call(useHelper("holds"), rows.expression, literal(word)),
  });
  return name(variable);
}
