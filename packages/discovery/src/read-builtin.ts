import type { TSType } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import {
  arrayOf,
  enumSchema,
  isPlainObject,
  keysOf,
  literalsOf,
  objectSchema,
  unionSchema,
} from "./schema-combine.ts";
import type { SchemaReader, Scope } from "./schema-reader.ts";
import { withTypeText } from "./type-text.ts";

/** Types without a counterpart in JSON Schema, with the schema of their JSON form; `{}` where they have none. */
const SPECIAL = new Map<string, JsonSchema>([
  ["Date", { type: "string", format: "date-time" }],
  ["URL", { type: "string", format: "uri" }],
  ["RegExp", {}],
  ["Uint8Array", {}],
  ["ArrayBuffer", {}],
  ["Blob", {}],
]);

/** Reads a type that TypeScript declares, such as `Partial`, `Record` or `Date`. An unknown name gives `{}`. */
export function readBuiltin(
  reader: SchemaReader,
  name: string,
  types: readonly TSType[],
  scope: Scope,
): JsonSchema {
  const special = SPECIAL.get(name);
  if (special) return withTypeText({ ...special }, name);
  const read = (index: number): JsonSchema => {
    const type = types[index];
    return type ? reader.schemaOf(type, scope) : {};
  };
  switch (name) {
    case "Array":
    case "ReadonlyArray":
      return arrayOf(read(0));
    case "Promise":
    case "PromiseLike":
    case "Awaited":
    case "Readonly":
    case "NoInfer":
      return read(0);
    case "Partial":
      return withRequired(read(0), () => false);
    case "Required":
      return withRequired(read(0), () => true);
    case "Pick":
      return withProperties(read(0), new Set(keysOf(read(1))), true);
    case "Omit":
      return withProperties(read(0), new Set(keysOf(read(1))), false);
    case "Record":
      return recordSchema(read(0), read(1), types[1]?.type === "TSNeverKeyword");
    case "NonNullable":
      return without(read(0), (schema) => schema.type === "null");
    case "Exclude":
      return withLiterals(read(0), keysOf(read(1)), false);
    case "Extract":
      return withLiterals(read(0), keysOf(read(1)), true);
    case "Uppercase":
    case "Lowercase":
    case "Capitalize":
    case "Uncapitalize":
    case "String":
      return { type: "string" };
    case "Number":
      return { type: "number" };
    case "Boolean":
      return { type: "boolean" };
    case "Object":
      return { type: "object" };
    default:
      return {};
  }
}

function recordSchema(keys: JsonSchema, value: JsonSchema, isEmpty: boolean): JsonSchema {
  if (isEmpty) return { type: "object", properties: {}, additionalProperties: false };
  const names = keysOf(keys);
  if (names.length > 0) return objectSchema(Object.fromEntries(names.map((name) => [name, value])), names);
  return Object.keys(value).length === 0
    ? { type: "object", additionalProperties: {} }
    : { type: "object", additionalProperties: value };
}

function withRequired(schema: JsonSchema, isRequired: (name: string) => boolean): JsonSchema {
  if (!isPlainObject(schema)) return schema;
  const { required: _required, ...rest } = schema;
  const required = Object.keys(schema.properties ?? {}).filter(isRequired);
  return required.length > 0 ? { ...rest, required } : rest;
}

function withProperties(schema: JsonSchema, names: ReadonlySet<string>, isKept: boolean): JsonSchema {
  if (!isPlainObject(schema)) return schema;
  const keep = (name: string) => names.has(name) === isKept;
  const { required = [], description: _description, ...rest } = schema;
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([name]) => keep(name)),
  );
  return { ...rest, ...objectSchema(properties, required.filter(keep)) };
}

function without(schema: JsonSchema, isLeftOut: (part: JsonSchema) => boolean): JsonSchema {
  return schema.anyOf ? unionSchema(schema.anyOf.filter((part) => !isLeftOut(part))) : schema;
}

function withLiterals(schema: JsonSchema, names: readonly string[], isKept: boolean): JsonSchema {
  const values = literalsOf(schema);
  if (!values) return schema;
  return enumSchema(
    values.filter((value) => keysOf(enumSchema([value])).some((name) => names.includes(name)) === isKept),
  );
}
