import type { Condition, Scalar } from "./form-schema.ts";

/** Values of fields, by name. */
export type FieldValues = ReadonlyMap<string, FieldValue>;
/** The value of a field. Dates are texts of ISO 8601, files paths. */
export type FieldValue = string | number | boolean | string[];

/** The fields that a condition asks for. */
export function fieldsOf(condition: Condition): string[] {
  if ("all" in condition) return condition.all.flatMap(fieldsOf);
  if ("any" in condition) return condition.any.flatMap(fieldsOf);
  return "not" in condition ? fieldsOf(condition.not) : [condition.field];
}

/** Whether a condition holds. A list holds what one of its items does. */
export function holds(condition: Condition, values: FieldValues): boolean {
  if ("all" in condition) return condition.all.every((one) => holds(one, values));
  if ("any" in condition) return condition.any.some((one) => holds(one, values));
  if ("not" in condition) return !holds(condition.not, values);
  const value = values.get(condition.field);
  if (condition.filled !== undefined) return condition.filled === (value !== undefined);
  const isOneOf = (wanted: readonly Scalar[]): boolean => {
    const items = new Set((Array.isArray(value) ? value : [value]).flatMap((item) => item ?? []).map(String));
    return wanted.some((one) => items.has(String(one)));
  };
  if (condition.equals !== undefined) return isOneOf([condition.equals]);
  if (condition.not_equals !== undefined) return !isOneOf([condition.not_equals]);
  return condition.in === undefined ? !isOneOf(condition.not_in ?? []) : isOneOf(condition.in);
}
