import type { Expression, TSIndexedAccessType, TSMappedType, TSType, TSTypeQuery } from "@babel/types";
import type { JsonSchema, JsonValue } from "@cem/core";
import {
  arrayOf,
  enumSchema,
  isPlainObject,
  keysOf,
  literalSchema,
  literalsOf,
  objectSchema,
  referenceName,
  unionSchema,
  withTypeText,
} from "./schema-reader.ts";
import type { SchemaReader, Scope } from "./schema-reader.ts";

/** Types without a counterpart in JSON Schema, with the schema of their JSON form; `{}` if they have none. */
const SPECIAL = new Map<string, JsonSchema>([
  ["Date", { type: "string", format: "date-time" }],
  ["URL", { type: "string", format: "uri" }],
  ["RegExp", {}],
  ["Uint8Array", {}],
  ["ArrayBuffer", {}],
  ["Blob", {}],
]);

/** Objects of JavaScript around a value of that type. */
const WRAPPERS = new Set(["String", "Number", "Boolean", "Object"]);

/** Reads a type that TypeScript declares, such as `Partial`, `Record` or `Date`. An unknown name gives `{}`. */
export function readBuiltin(reader: SchemaReader, name: string, types: readonly TSType[], scope: Scope) {
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
      return withoutNull(read(0));
    case "Exclude":
      return withLiterals(read(0), keysOf(read(1)), false);
    case "Extract":
      return withLiterals(read(0), keysOf(read(1)), true);
    case "Uppercase":
    case "Lowercase":
    case "Capitalize":
    case "Uncapitalize":
      return { type: "string" };
    default:
      return WRAPPERS.has(name) ? { type: name.toLowerCase() } : {};
  }
}

function recordSchema(keys: JsonSchema, value: JsonSchema, isEmpty: boolean): JsonSchema {
  if (isEmpty) return { type: "object", properties: {}, additionalProperties: false };
  const names = keysOf(keys);
  if (names.length > 0)
    return objectSchema(
      names.map((name) => [name, value]),
      names,
    );
  // A value that may be anything has no type text either.
  return { type: "object", additionalProperties: Object.keys(value).length === 0 ? {} : value };
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
  const properties = Object.entries(schema.properties ?? {}).filter(([name]) => keep(name));
  return { ...rest, ...objectSchema(properties, required.filter(keep)) };
}

function withoutNull(schema: JsonSchema): JsonSchema {
  return schema.anyOf ? unionSchema(schema.anyOf.filter(({ type }) => type !== "null")) : schema;
}

function withLiterals(schema: JsonSchema, names: readonly string[], isKept: boolean): JsonSchema {
  const values = literalsOf(schema);
  if (!values) return schema;
  return enumSchema(
    values.filter((value) => keysOf(enumSchema([value])).some((name) => names.includes(name)) === isKept),
  );
}

/** Reads `keyof T`. */
export function readKeys(reader: SchemaReader, type: TSType, scope: Scope): JsonSchema {
  const names = Object.keys(reader.schemaOf(type, scope).properties ?? {});
  return names.length > 0 ? enumSchema(names) : { type: "string" };
}

/** Reads `T["name"]`, `T[number]` and `T[keyof T]`. */
export function readIndexed(reader: SchemaReader, type: TSIndexedAccessType, scope: Scope): JsonSchema {
  const object = reader.schemaOf(type.objectType, scope);
  if (type.indexType.type === "TSNumberKeyword") {
    const elements = object["prefixItems"] as JsonSchema[] | undefined;
    const rest = object.items ?? {};
    if (!elements) return rest;
    return unionSchema(object.items ? [...elements, rest] : elements);
  }
  const names = keysOf(reader.schemaOf(type.indexType, scope));
  const properties = new Map(Object.entries(object.properties ?? {}));
  if (names.length > 0) return unionSchema(names.map((name) => properties.get(name) ?? {}));
  return typeof object.additionalProperties === "object" ? object.additionalProperties : {};
}

/** Reads `{ [Key in Keys]: Value }`. */
export function readMapped(reader: SchemaReader, type: TSMappedType, scope: Scope): JsonSchema {
  if (!type.typeAnnotation || type.nameType) return { type: "object" };
  const value = type.typeAnnotation;
  const read = (key: JsonSchema) =>
    reader.schemaOf(value, {
      ...scope,
      parameters: new Map([...scope.parameters, [type.key.name, { schema: key }]]),
    });
  const names = keysOf(reader.schemaOf(type.constraint, scope));
  if (names.length === 0) return { type: "object", additionalProperties: read({ type: "string" }) };
  const isOptional = type.optional === true || type.optional === "+";
  const properties = names.map((name) => [name, read(literalSchema(name))] as const);
  return objectSchema(properties, isOptional ? [] : names);
}

/** Reads `typeof CONSTANT`. */
export function readTypeQuery(reader: SchemaReader, type: TSTypeQuery, scope: Scope): JsonSchema {
  if (type.exprName.type !== "Identifier") return {};
  const found = reader.find(type.exprName.name, scope.module);
  if (found?.kind !== "constant") return {};
  const value = reader.valueOf(found.node, found.module);
  return value === undefined ? {} : valueSchema(value, isConst(found.node));
}

function isConst(node: Expression): boolean {
  if (node.type === "TSSatisfiesExpression") return isConst(node.expression);
  return node.type === "TSAsExpression" && referenceName(node.typeAnnotation) === "const";
}

function valueSchema(value: JsonValue, isExact: boolean): JsonSchema {
  if (Array.isArray(value)) {
    const items = value.map((item) => valueSchema(item, isExact));
    if (!isExact) return { type: "array", items: unionSchema(items) };
    return { type: "array", prefixItems: items, minItems: items.length, maxItems: items.length };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, item]) => [name, valueSchema(item, isExact)] as const);
    return objectSchema(entries, Object.keys(value));
  }
  const literal = literalSchema(value);
  return isExact || value === null ? literal : { type: literal.type ?? "string" };
}
