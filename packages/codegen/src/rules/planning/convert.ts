import type { JsonSchema } from "@cem/core";
import { call, type Expression, literal, method, name } from "../program/expression.ts";
import { hasType, isNumeric } from "./value.ts";

/** A value as text: text stays, numbers are printed, the rest becomes JSON. */
export function asText(expression: Expression, schema: JsonSchema): Expression {
  if (hasType(schema, "string") && !hasType(schema, "object", "array", "number", "null")) return expression;
  if (isNumeric(schema)) return call("String", expression);
  return toJson(expression);
}

/** `JSON.stringify(value, null, 2)` */
export function toJson(expression: Expression): Expression {
  return method(name("JSON"), "stringify", expression, literal(null), literal(2));
}
