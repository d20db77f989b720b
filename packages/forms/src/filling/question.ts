import type { JsonObject } from "@cem/core";
import { DATE_EXAMPLES } from "../form/dates.ts";
import { labelOf, type FormField } from "../form/form-schema.ts";

const FORMATS: Partial<Record<FormField["type"], string>> = { email: "email", url: "uri", date: "date" };

/** The schema of a question for values, flat as MCP's elicitation requires. */
export function questionSchema(fields: readonly FormField[]): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field.name, property(field)])),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** Whether a person may be asked for the value: MCP's elicitation must not be used for passwords and secrets. */
export function mayAsk({ type, pii }: FormField): boolean {
  return type !== "password" && pii !== "SECRET";
}

function property(field: FormField): JsonObject {
  const { type, description = "", pattern, pattern_hint: hint, options = [], min, max } = field;
  const wanted = hint ?? (pattern === undefined ? exampleOf(field) : `matches ${pattern}`);
  const about = [description, wanted].filter((text) => text !== "").join("; ");
  const shared: JsonObject = { title: labelOf(field), ...(about !== "" && { description: about }) };
  const choices = options.map(({ value, label }) => ({ const: value, title: label }));
  switch (type) {
    case "boolean":
      return { ...shared, type: "boolean" };
    case "number":
    case "integer":
      return {
        ...shared,
        type,
        ...(typeof min === "number" && { minimum: min }),
        ...(typeof max === "number" && { maximum: max }),
      };
    case "select":
    case "radio":
      return { ...shared, type: "string", oneOf: choices };
    case "multiselect":
      return { ...shared, type: "array", items: { anyOf: choices }, ...itemLimits(field) };
    default: {
      const format = FORMATS[type];
      return { ...shared, type: "string", ...(format !== undefined && { format }), ...lengthLimits(field) };
    }
  }
}

function exampleOf({ type }: FormField): string {
  if (type === "file") return "a path in the workspace";
  const example = DATE_EXAMPLES[type];
  return example === undefined ? "" : `such as ${example}`;
}

function itemLimits({ min_items: least, max_items: most }: FormField): JsonObject {
  return { ...(least !== undefined && { minItems: least }), ...(most !== undefined && { maxItems: most }) };
}

function lengthLimits({ min_length: least, max_length: most }: FormField): JsonObject {
  return { ...(least !== undefined && { minLength: least }), ...(most !== undefined && { maxLength: most }) };
}
