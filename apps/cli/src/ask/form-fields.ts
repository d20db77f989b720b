import { isObject, type JsonObject, type JsonValue } from "@cem/core";
import type { FieldValue, FormField } from "@cem/forms";

/** A field of a tool's question, as presented to people. */
export interface AskedField {
  field: FormField;
  /** The value if nothing is typed. */
  preset: FieldValue | undefined;
  /** The accepted input, for people: `yes or no`. Empty if anything is accepted. */
  hint: string;
}

/** Reads the fields of an elicitation's flat schema: texts, numbers, booleans and choices. */
export function readFormFields(schema: JsonObject): AskedField[] {
  const required = new Set(listOf(schema["required"]));
  return Object.entries(objectOf(schema["properties"])).map(([name, property]) =>
    readField(name, objectOf(property), required.has(name)),
  );
}

function readField(name: string, property: JsonObject, required: boolean): AskedField {
  const { type, minLength, maxLength, minimum, maximum, format, default: preset } = property;
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
  };
  const asked = { field, preset: isFieldValue(preset) ? preset : undefined };
  if (options.length > 0) {
    const listed = options.map(({ label }, at) => `${at + 1} ${label}`).join(", ");
    field.options = options;
    field.type = isList ? "multiselect" : "select";
    return { ...asked, hint: isList ? `${listed}; several with commas` : listed };
  }
  if (type === "boolean") return { ...asked, field: { ...field, type }, hint: "yes or no" };
  if (type !== "integer" && type !== "number") return { ...asked, hint: textOf(format) };
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
  return type === "multiselect" ? text.split(",").map((part) => choice(part.trim())) : choice(text);
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
