import { isObject, type JsonObject, type JsonValue } from "@cem/core";
import type { FieldValue, FormField } from "@cem/forms";

export interface AskedField {
  field: FormField;
  /** The value if nothing is typed. */
  preset: FieldValue | undefined;
  /** The accepted input, for people: `yes or no`. Empty if anything is accepted. */
  hint: string;
}

/** Requirements of the formats that the protocol has. */
const FORMATS: Readonly<Record<string, Partial<FormField>>> = {
  email: { type: "email" },
  date: { type: "date" },
  uri: { pattern: "[A-Za-z][A-Za-z0-9+.-]*:\\S+", pattern_hint: "an address such as https://example.com" },
  "date-time": {
    pattern: "\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)",
    pattern_hint: "a date and a time such as 2026-01-31T14:30:00Z",
  },
};

/** Reads the fields of an elicitation's flat schema: texts, numbers, booleans and choices. */
export function readFormFields(schema: JsonObject): AskedField[] {
  const required = new Set(listOf(schema["required"]));
  return Object.entries(objectOf(schema["properties"])).map(([name, property]) =>
    readField(name, objectOf(property), required.has(name)),
  );
}

function readField(name: string, property: JsonObject, required: boolean): AskedField {
  const { type, minLength, maxLength, minimum, maximum, minItems, maxItems, default: preset } = property;
  const format = textOf(property["format"]);
  const isList = type === "array";
  const options = choicesOf(isList ? objectOf(property["items"]) : property);
  const field: FormField = {
    name,
    label: textOf(property["title"]) || name,
    description: textOf(property["description"]),
    required,
    type: "text",
    min_length: numberOf(minLength),
    max_length: numberOf(maxLength),
    min: numberOf(minimum),
    max: numberOf(maximum),
    min_items: numberOf(minItems),
    max_items: numberOf(maxItems),
  };
  const asked = { field, preset: isFieldValue(preset) ? preset : undefined };
  if (options.length > 0) {
    field.options = options;
    field.type = isList ? "multiselect" : "select";
    return { ...asked, hint: isList ? "several with commas" : "" };
  }
  if (type === "boolean") return { ...asked, field: { ...field, type }, hint: "yes or no" };
  if (type !== "integer" && type !== "number") {
    const form = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
    return { ...asked, field: { ...field, ...form }, hint: form === undefined ? "" : format };
  }
  const kind = type === "integer" ? "a whole number" : "a number";
  const from = field.min === undefined ? "" : ` from ${field.min}`;
  const to = field.max === undefined ? "" : ` up to ${field.max}`;
  return { ...asked, field: { ...field, type }, hint: kind + from + to };
}

/** Parses the answer typed for a field. A choice may be given by its number in the list. */
export function typedValue({ options = [], type }: FormField, text: string): unknown {
  const choice = (typed: string): string => {
    const isNamed = options.some((one) => [one.value, one.label].includes(typed));
    return isNamed ? typed : (options[Number(typed) - 1]?.value ?? typed);
  };
  return type === "multiselect"
    ? [...new Set(text.split(",").map((part) => choice(part.trim())))]
    : choice(text);
}

function choicesOf(property: JsonObject): NonNullable<FormField["options"]> {
  const names = listOf(property["enumNames"]);
  const named = listOf(property["enum"]).map((value, at) => ({ const: value, title: names[at] ?? value }));
  return [...named, ...listOf(property["oneOf"]), ...listOf(property["anyOf"])].flatMap((option) => {
    const { const: given, title } = objectOf(option);
    const value = textOf(given);
    return value === "" ? [] : [{ value, label: textOf(title) || value }];
  });
}

function isFieldValue(value: JsonValue | undefined): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

function numberOf(value: JsonValue | undefined): number | undefined {
  return typeof value === "number" ? value : undefined;
}
