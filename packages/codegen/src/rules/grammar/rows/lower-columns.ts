import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import type { Value } from "../../planning/value.ts";
import {
  array,
  arrow,
  binary,
  call,
  type Expression,
  method,
  name,
  object,
  spread,
} from "../../program/expression.ts";
import { plural } from "../../program/names.ts";
import { cellOf, type Column } from "./columns.ts";
import { columnsOf, itemName, next } from "./lower-value.ts";

/** The values of one column, or rows of fewer columns. */
export function pickColumns(plan: Plan, rows: Value, columns: readonly Column[], isDistinct: boolean): Value {
  const row = itemName(rows.words);
  const [only] = columns;
  if (only === undefined || columns.length > 1) {
    const picked = method(rows.expression, "map", arrow([row], pickedObject(plan, rows, name(row), columns)));
    const properties = Object.fromEntries(
      columns.map((column) => [column.key ?? column.words, columnsOf(rows).schemaOf(column)]),
    );
    const details = isDistinct ? call(useHelper("distinct"), picked) : picked;
    return next(plan, rows, details, `${rows.words} details`, {
      type: "array",
      items: { type: "object", properties },
    });
  }
  const cells = method(rows.expression, "map", arrow([row], cellOf(plan, rows, name(row), only)));
  const values = isDistinct ? array([spread({ kind: "new", callee: "Set", args: [cells] })]) : cells;
  const picked = plan.declare(values, {
    words: plural(only.words.replaceAll("_", " ")),
    schema: { type: "array", items: columnsOf(rows).schemaOf(only) },
  });
  rows.consumed = true;
  return picked;
}

/** The same of a single row. */
export function pickCells(plan: Plan, row: Value, columns: readonly Column[]): Value {
  const [only] = columns;
  const one: Value = { ...row, columns: undefined, expression: array([row.expression]) };
  const cells =
    only === undefined || columns.length > 1
      ? pickedObject(plan, one, row.expression, columns)
      : cellOf(plan, one, row.expression, only);
  const whole = binary(row.expression, "&&", cells);
  return next(plan, row, whole, only?.words ?? "details", {});
}

function pickedObject(plan: Plan, rows: Value, row: Expression, columns: readonly Column[]): Expression {
  return object(
    columns.map((column) => ({ key: column.key ?? column.words, value: cellOf(plan, rows, row, column) })),
  );
}
