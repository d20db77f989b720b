import { isObject, referredTo } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import { joinPath } from "./violation.ts";

/** May have more digits than a number can represent. */
const LONG = /\d{16}/;
const DIGITS = /^-?[1-9]\d{15,}$/;
/** A number with such an ending is exact: it is not an id that lost its last digits. */
const ROUND = /0{6}$|e/;
/** Maximum number of subschemas examined for one value. */
const MAX_FORMS = 50;

/** Returns the replacement of a text of digits where the schema requires a number, or of a number that may have lost digits. */
type Replace = (found: string | number, path: string) => JsonValue;

/**
 * Finds long integers in arguments: texts of more digits than a number can represent, where the schema requires one, and
 * numbers that may have lost digits.
 *
 * @returns the arguments with the result of `replace` for each.
 */
export function replaceLongNumbers(args: JsonObject, schema: JsonSchema, replace: Replace): JsonObject {
  const visit = (value: JsonValue, schemas: readonly unknown[], path: string): JsonValue => {
    if (typeof value === "number") return isInexact(value) ? replace(value, path) : value;
    if (typeof value === "string" && !DIGITS.test(value)) return value;
    const forms = formsOf(schemas, schema);
    if (typeof value === "string") {
      const types = new Set(forms.flatMap(({ type = [] }) => type));
      const isWanted = (types.has("integer") || types.has("number")) && !types.has("string");
      return isWanted && !Number.isSafeInteger(Number(value)) ? replace(value, path) : value;
    }
    const inside = (name: string, one: JsonValue, parts: readonly unknown[]): JsonValue =>
      visit(one, parts, joinPath(path, name, "arguments"));
    if (Array.isArray(value)) {
      const items = forms.map((form) => form.items);
      return value.map((one, index) => inside(`${index}`, one, items));
    }
    if (!isObject<JsonValue>(value)) return value;
    const members = Object.entries(value).map(([name, one]): [string, JsonValue] => {
      const parts = forms.map((form) => form.properties?.[name] ?? form.additionalProperties);
      return [name, inside(name, one, parts)];
    });
    return Object.fromEntries(members);
  };
  return LONG.test(JSON.stringify(args)) ? (visit(args, [schema], "") as JsonObject) : args;
}

function isInexact(value: number): boolean {
  return Number.isInteger(value) && !Number.isSafeInteger(value) && !ROUND.test(`${value}`);
}

/** The schemas and their component schemas. */
function formsOf(schemas: readonly unknown[], document: JsonSchema): JsonSchema[] {
  const forms = new Set(schemas.filter((one) => isObject(one)));
  for (const form of forms) {
    const { $ref: reference, anyOf, oneOf, allOf } = form;
    const target = typeof reference === "string" ? referredTo(document, reference) : undefined;
    for (const part of [target, anyOf, oneOf, allOf].flat())
      if (isObject(part) && forms.size < MAX_FORMS) forms.add(part);
  }
  return [...forms];
}
