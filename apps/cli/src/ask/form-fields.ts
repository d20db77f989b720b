import type { JsonObject, JsonValue } from "@cem/core";

/** One field of a form. */
export interface FormField {
  name: string;
  title: string;
  description: string;
  required: boolean;
  /** The value when nothing is typed. */
  preset?: FieldValue | undefined;
  /** A hint for people on the accepted input: `yes or no`. Empty where anything may be. */
  hint: string;
  /** Parses what was typed. */
  read(text: string): { ok: true; value: FieldValue } | { ok: false; fault: string };
}

export type FieldValue = string | number | boolean | string[];

const YES = /^(?:y|yes|true)$/i;
const NO = /^(?:n|no|false)$/i;

/** Reads the fields of an elicitation's flat schema: texts, numbers, booleans and choices. */
export function readFormFields(schema: JsonObject): FormField[] {
  const properties = asObject(schema["properties"]);
  const required = new Set(asList(schema["required"]));
  return Object.entries(properties).map(([name, property]) =>
    readField(name, asObject(property), required.has(name)),
  );
}

function readField(name: string, property: JsonObject, required: boolean): FormField {
  const preset = property["default"];
  const field = {
    name,
    title: asText(property["title"]) || name,
    description: asText(property["description"]),
    required,
    preset: isFieldValue(preset) ? preset : undefined,
  };
  const choices = choicesOf(property);
  if (property["type"] === "array") return { ...field, ...severalOf(choicesOf(asObject(property["items"]))) };
  if (choices.length > 0) return { ...field, ...oneOf(choices) };
  switch (property["type"]) {
    case "boolean":
      return { ...field, hint: "yes or no", read: readBoolean };
    case "integer":
    case "number":
      return { ...field, ...numberOf(property) };
    default:
      return { ...field, ...textOf(property) };
  }
}

type Reading = Pick<FormField, "hint" | "read">;

function readBoolean(text: string): ReturnType<FormField["read"]> {
  if (YES.test(text)) return { ok: true, value: true };
  return NO.test(text) ? { ok: true, value: false } : { ok: false, fault: "Type yes or no." };
}

function numberOf({ type, minimum, maximum }: JsonObject): Reading {
  const kind = type === "integer" ? "a whole number" : "a number";
  const [least, most] = [minimum ?? -Infinity, maximum ?? Infinity].map(Number) as [number, number];
  const range = [
    Number.isFinite(least) ? ` from ${least}` : "",
    Number.isFinite(most) ? ` up to ${most}` : "",
  ].join("");
  return {
    hint: kind + range,
    read: (text) => {
      const value = Number(text);
      const isFine = Number.isFinite(value) && (type !== "integer" || Number.isInteger(value));
      if (isFine && value >= least && value <= most) return { ok: true, value };
      return { ok: false, fault: `Type ${kind}${range}.` };
    },
  };
}

function textOf({ format, minLength, maxLength }: JsonObject): Reading {
  const least = typeof minLength === "number" ? minLength : 0;
  const most = typeof maxLength === "number" ? maxLength : Infinity;
  return {
    hint: asText(format),
    read: (text) => {
      const { length } = Array.from(text);
      if (length < least) return { ok: false, fault: `It needs at least ${least} characters.` };
      return length > most
        ? { ok: false, fault: `It takes at most ${most} characters.` }
        : { ok: true, value: text };
    },
  };
}

interface Choice {
  value: string;
  label: string;
}

function oneOf(choices: readonly Choice[]): Reading {
  return {
    hint: listed(choices),
    read: (text) => {
      const found = find(choices, text);
      return found === undefined
        ? { ok: false, fault: `Type one of: ${listed(choices)}.` }
        : { ok: true, value: found };
    },
  };
}

function severalOf(choices: readonly Choice[]): Reading {
  return {
    hint: `${listed(choices)}; several with commas`,
    read: (text) => {
      const parts = text.split(",").map((part) => part.trim());
      const found = parts.map((part) => (choices.length === 0 ? part : find(choices, part)));
      if (found.every((value) => value !== undefined)) return { ok: true, value: found };
      return { ok: false, fault: `Type some of: ${listed(choices)}, with commas between.` };
    },
  };
}

/** Finds a choice by its value, its label or its number in the list. */
function find(choices: readonly Choice[], text: string): string | undefined {
  const wanted = text.toLowerCase();
  const named = choices.find(
    ({ value, label }) => value.toLowerCase() === wanted || label.toLowerCase() === wanted,
  );
  return (named ?? choices[Number(text) - 1])?.value;
}

function listed(choices: readonly Choice[]): string {
  return choices.map(({ label }, index) => `${index + 1} ${label}`).join(", ");
}

function choicesOf(property: JsonObject): Choice[] {
  const values = asList(property["enum"]);
  if (values.length > 0) {
    const names = asList(property["enumNames"]);
    return values.map((value, index) => ({
      value: asText(value),
      label: asText(names[index]) || asText(value),
    }));
  }
  const options = [...asList(property["oneOf"]), ...asList(property["anyOf"])].map(asObject);
  return options.flatMap((option) => {
    const value = asText(option["const"]);
    return value === "" ? [] : [{ value, label: asText(option["title"]) || value }];
  });
}

function isFieldValue(value: JsonValue | undefined): value is FieldValue {
  if (Array.isArray(value)) return value.every((item) => typeof item === "string");
  return ["string", "number", "boolean"].includes(typeof value);
}

function asObject(value: JsonValue | undefined): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : {};
}

function asList(value: JsonValue | undefined): JsonValue[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
