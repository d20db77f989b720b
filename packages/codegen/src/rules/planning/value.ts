import type { JsonSchema, JsonValue } from "@cem/core";
import type { Expression } from "../program/expression.ts";

/** What a variable of the program holds, as far as it is known before it runs. */
export interface Value {
  name: string;
  expression: Expression;
  /** Describes what it holds. `{}` when nothing is known. */
  schema: JsonSchema;
  /** What the user may call it: `sum`, `active users`. */
  words: string;
  /** Which step made it, from 0. */
  step: number;
  /** Feeds a later result, so it is no result of its own. */
  consumed: boolean;
  /** Made for what it does, not for what it returns: a file was written. */
  isEffect: boolean;
  /** Known before the program runs. */
  constant?: JsonValue | undefined;
  /** The field of a file that it was calculated from. */
  source?: string | undefined;
  /** The text of the formula that made it. */
  formula?: string | undefined;
  /** The step that made it, in the user's words. */
  about: string;
  /** The property that the step asked for by name: `get the temperature …`. */
  asked?: string | undefined;
  /** It holds the rows of another value by a column. */
  group?: { rows: Value; column: string } | undefined;
  /** Columns of its rows that the program looks up, by the words for them. */
  columns?: Map<string, Expression> | undefined;
  /** A JSON file that the program holds in memory. */
  document?: StateDocument | undefined;
}

/** A JSON file that steps read, change and save. */
export interface StateDocument {
  path: string;
  value: Value;
  /** Fields known from the text. */
  fields: Map<string, JsonValue | undefined>;
  isDirty: boolean;
  /** It was read from the file, so its fields are unknown. */
  isLoaded: boolean;
  /** Fields added after it was made. */
  added: Set<string>;
}

function typesOf(schema: JsonSchema): readonly string[] {
  if (schema.type === undefined) {
    if (schema.properties !== undefined) return ["object"];
    if (schema.items !== undefined) return ["array"];
    const parts = schema.anyOf?.flatMap((part) => typesOf(part)) ?? [];
    if (parts.length > 0) return [...new Set(parts)];
    if (schema.enum !== undefined)
      return [...new Set(schema.enum.map((value) => (value === null ? "null" : typeof value)))];
    return [];
  }
  return Array.isArray(schema.type) ? schema.type : [schema.type];
}

export function hasType(schema: JsonSchema, ...types: readonly string[]): boolean {
  return typesOf(schema).some((type) => types.includes(type));
}

export function isNumeric(schema: JsonSchema): boolean {
  return hasType(schema, "number", "integer") && !hasType(schema, "string", "object", "array");
}

/** The schema's properties, or none. */
export function propertiesOf(schema: JsonSchema): readonly (readonly [string, JsonSchema])[] {
  return Object.entries(schema.properties ?? {});
}

/** A schema as a TypeScript type, for annotations. */
export function typeText(schema: JsonSchema): string {
  const types = typesOf(schema);
  if (types.length === 0) return "unknown";
  return types.map((type) => typeTextOf(type, schema)).join(" | ");
}

function typeTextOf(type: string, schema: JsonSchema): string {
  if (type === "integer" || type === "number") return "number";
  if (type === "string" || type === "boolean" || type === "null") return type;
  if (type === "array") {
    const item = typeText(schema.items ?? {});
    return item.includes(" ") ? `Array<${item}>` : `${item}[]`;
  }
  const properties = propertiesOf(schema);
  const simple =
    properties.length > 0 &&
    properties.length <= 8 &&
    properties.every(([key]) => /^[A-Za-z_]\w*$/u.test(key));
  if (!simple) return "Record<string, unknown>";
  const required = new Set(schema.required ?? []);
  return `{ ${properties.map(([key, value]) => `${key}${required.has(key) ? "" : "?"}: ${typeText(value)}`).join("; ")} }`;
}
