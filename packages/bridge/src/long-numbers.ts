import { isObject, referredTo } from "@cem/core";
import type { JsonObject, JsonSchema, JsonValue } from "@cem/core";
import { joinPath } from "./violation.ts";

/** Perhaps more digits than a number holds. */
const LONG = /\d{16}/;
const DIGITS = /^-?[1-9]\d{15,}$/;
/** A number that ends so was meant as it is: no id, of which the last digits were lost, does. */
const ROUND = /0{6}$|e/;
/** The most parts of a schema that are looked at for one value. */
const MAX_FORMS = 50;

/** Gives what stands for digits where a schema wants a number, or for a number that may have lost its last ones. */
type Replace = (found: string | number, path: string) => JsonValue;

/**
 * Finds long whole numbers in arguments: texts of digits that no number holds, where the schema wants one, and numbers that
 * hold less than was meant.
 *
 * @returns the arguments with what `replace` gives for each.
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

/** The schemas and those that they are made of. */
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
