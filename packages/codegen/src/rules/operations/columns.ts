import type { JsonSchema } from "@cem/core";
import type { Plan } from "../planning/plan.ts";
import { Unfilled } from "../planning/plan.ts";
import { matchProperty, PROPERTY_WORDS } from "../planning/references.ts";
import { propertiesOf, type Value } from "../planning/value.ts";
import { call, type Expression, literal } from "../program/expression.ts";
import { lookUp } from "../reading/look-up.ts";
import { useHelper } from "./helpers.ts";

/** What a column is asked for beside its name. */
export interface ColumnUse {
  isDate?: boolean | undefined;
  isMeasure?: boolean | undefined;
}

/** What people mean when they say `orders over 100`, best first. */
const MEASURES = ["total", "amount", "price", "cost", "value", "age", "salary", "score", "quantity"];
const DATE = /(?:^|_)(?:at|on|date|time|day)$|date|timestamp/iu;

/** The column that words name. `undefined` where it is only known when the program runs. */
function knownColumn(rows: Value, words: string, use: ColumnUse = {}): string | undefined {
  const item = rows.schema.items ?? {};
  const columns = propertiesOf(item).map(([key]) => key);
  if (columns.length === 0) return undefined;
  const found =
    use.isMeasure === true
      ? MEASURES.find((measure) => columns.includes(measure))
      : (columns.find((column) => column.toLowerCase() === words.toLowerCase()) ??
        matchProperty(words.replaceAll("_", " "), item) ??
        (use.isDate === true ? columns.find((column) => DATE.test(column)) : undefined));
  if (found !== undefined) return found;
  const asked = use.isMeasure === true ? "such a number" : `"${words.replaceAll("_", " ")}"`;
  throw new Unfilled({
    step: words,
    reason: "missing-argument",
    argument: "column",
    hint: `${rows.words} has no column for ${asked}. It has ${columns.slice(0, 30).join(", ")}.`,
  });
}

/** The column that words name, as text or as a variable that finds it when the program runs. */
export function columnOf(plan: Plan, rows: Value, words: string, use: ColumnUse = {}): Expression {
  const known = knownColumn(rows, words, use);
  if (known !== undefined) return literal(known);
  const dates = use.isDate === true ? ["date", "created_at", "time"] : [];
  const named = [words, ...(lookUp(PROPERTY_WORDS, words.toLowerCase()) ?? []), ...dates];
  const meant = use.isMeasure === true ? MEASURES : named;
  const [first = words] = meant;
  rows.columns ??= new Map();
  const before = rows.columns.get(first);
  if (before !== undefined) return before;
  const variable = plan.names.take(`${first} column`, "column");
  plan.add({
    kind: "const",
    name: variable,
    value: call(useHelper("findColumn"), rows.expression, ...meant.map((one) => literal(one))),
  });
  const column: Expression = { kind: "name", name: variable };
  rows.columns.set(first, column);
  return column;
}

/** The column's name, where it is known before the program runs. */
export function keyOf(column: Expression): string | undefined {
  return column.kind === "literal" && typeof column.value === "string" ? column.value : undefined;
}

/** `row.column`, or `row[column]` where the column is found when the program runs. */
export function cellOf(row: Expression, column: Expression): Expression {
  const key = keyOf(column);
  return key === undefined ? { kind: "index", of: row, at: column } : { kind: "member", of: row, key };
}

/** What a row's schema says of the column. */
export function cellSchema(rows: Value, column: Expression): JsonSchema {
  const key = keyOf(column);
  return key === undefined ? {} : (rows.schema.items?.properties?.[key] ?? {});
}
