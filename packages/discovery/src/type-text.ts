import type { JsonSchema } from "@cem/core";

/** Type texts of schemas that can't express their type: a `Date` is a string in JSON. */
const texts = new WeakMap<JsonSchema, string>();

/** Sets the TypeScript text of a schema. */
export function withTypeText(schema: JsonSchema, text: string): JsonSchema {
  texts.set(schema, text);
  return schema;
}

/** A copy of a schema with more keywords and the same type text. */
export function extendSchema(schema: JsonSchema, more: JsonSchema): JsonSchema {
  const text = texts.get(schema);
  const copy = { ...schema, ...more };
  return text === undefined ? copy : withTypeText(copy, text);
}

/** Prints a schema as a TypeScript type on one line. */
export function typeTextOf(schema: JsonSchema): string {
  const text = texts.get(schema);
  if (text !== undefined) return text;
  if (typeof schema["$ref"] === "string") return schema["$ref"].split("/").at(-1) ?? "unknown";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeTextOf))].join(" | ");
  if (Array.isArray(schema["allOf"]))
    return (schema["allOf"] as JsonSchema[]).map((part) => innerText(part)).join(" & ");
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeTextOf({ ...schema, type })).join(" | ");
  switch (schema.type) {
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "array":
      return arrayText(schema);
    case "object":
      return objectText(schema);
    default:
      return "unknown";
  }
}

function arrayText(schema: JsonSchema): string {
  const elements = schema["prefixItems"] as JsonSchema[] | undefined;
  if (!elements) return schema.items ? `${innerText(schema.items)}[]` : "unknown[]";
  const required = typeof schema["minItems"] === "number" ? schema["minItems"] : elements.length;
  const texts = elements.map((element, index) =>
    index < required ? typeTextOf(element) : `${innerText(element)}?`,
  );
  if (schema.items) texts.push(`...${innerText(schema.items)}[]`);
  return `[${texts.join(", ")}]`;
}

function objectText(schema: JsonSchema): string {
  const required = new Set(schema.required);
  const members = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => `${propertyName(name)}${required.has(name) ? "" : "?"}: ${typeTextOf(property)}`,
  );
  const rest = schema.additionalProperties;
  if (typeof rest === "object") {
    if (members.length === 0) return `Record<string, ${typeTextOf(rest)}>`;
    members.push(`[key: string]: ${typeTextOf(rest)}`);
  }
  if (members.length > 0) return `{ ${members.join("; ")} }`;
  return rest === false || schema.properties ? "{}" : "object";
}

function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

/** The text of a type inside another, with parentheses around unions and intersections. */
function innerText(schema: JsonSchema): string {
  const text = typeTextOf(schema);
  const isCompound =
    !texts.has(schema) &&
    ((schema.enum?.length ?? 0) > 1 ||
      (schema.anyOf?.length ?? 0) > 1 ||
      Array.isArray(schema.type) ||
      Array.isArray(schema["allOf"]));
  return isCompound ? `(${text})` : text;
}
