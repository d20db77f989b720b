import type { JsonSchema } from "@cem/core";
import type { Plan } from "../../planning/plan.ts";
import type { Value } from "../../planning/value.ts";
import type { Expression } from "../../program/expression.ts";
import { camelCase, plural, singular } from "../../program/names.ts";
import { Columns } from "./columns.ts";

/** What the rows of a value are called: `matching users` are `users`. */
export function nounOf(rows: Value): string {
  return plural(rows.words.split(" ").at(-1) ?? "items");
}

/** What one of them is called inside a function: `users` gives `user`. */
export function itemName(words: string): string {
  const one = camelCase(singular(words.split(" ").at(-1) ?? ""));
  return one === "" || one === camelCase(words) ? "item" : one;
}

export function next(
  plan: Plan,
  from: Value,
  expression: Expression,
  words: string,
  schema: JsonSchema = from.schema,
): Value {
  from.consumed = true;
  const value = plan.declare(expression, { words, schema });
  if (from.columns !== undefined) value.columns = from.columns;
  return value;
}

export function declareNumber(
  plan: Plan,
  from: readonly Value[],
  expression: Expression,
  words: string,
): Value {
  for (const one of from) one.consumed = true;
  return plan.declare(expression, { words, schema: { type: "number" } });
}

export function columnsOf(rows: Value): Columns {
  return new Columns(rows.schema.items ?? {}, rows.words);
}
