import type { Expression, TSIndexedAccessType, TSMappedType, TSType, TSTypeQuery } from "@babel/types";
import type { JsonSchema, JsonValue } from "@cem/core";
import { literalValue } from "./literal-value.ts";
import { enumSchema, keysOf, literalSchema, objectSchema, unionSchema } from "./schema-combine.ts";
import type { ModuleLoader, SchemaReader, Scope } from "./schema-reader.ts";

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
  const found = names.map((name) => properties.get(name) ?? {});
  return found.length > 0
    ? unionSchema(found)
    : typeof object.additionalProperties === "object"
      ? object.additionalProperties
      : {};
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
  return objectSchema(
    Object.fromEntries(names.map((name) => [name, read(literalSchema(name))])),
    isOptional ? [] : names,
  );
}

/** Reads `typeof CONSTANT`. */
export function readTypeQuery(
  reader: SchemaReader,
  type: TSTypeQuery,
  scope: Scope,
  load: ModuleLoader,
): JsonSchema {
  if (type.exprName.type !== "Identifier") return {};
  const found = reader.find(type.exprName.name, scope.module);
  if (found?.kind !== "constant") return {};
  const value = literalValue(found.node, found.module, load);
  return value === undefined ? {} : valueSchema(value, isConst(found.node));
}

function isConst(node: Expression): boolean {
  if (node.type === "TSSatisfiesExpression") return isConst(node.expression);
  return (
    node.type === "TSAsExpression" &&
    node.typeAnnotation.type === "TSTypeReference" &&
    node.typeAnnotation.typeName.type === "Identifier" &&
    node.typeAnnotation.typeName.name === "const"
  );
}

function valueSchema(value: JsonValue, isExact: boolean): JsonSchema {
  if (Array.isArray(value)) {
    if (isExact)
      return {
        type: "array",
        prefixItems: value.map((item) => valueSchema(item, true)),
        minItems: value.length,
        maxItems: value.length,
      };
    return { type: "array", items: unionSchema(value.map((item) => valueSchema(item, false))) };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([name, item]): [string, JsonSchema] => [
      name,
      valueSchema(item, isExact),
    ]);
    return objectSchema(Object.fromEntries(entries), Object.keys(value));
  }
  const literal = literalSchema(value);
  return isExact || value === null ? literal : { type: literal.type ?? "string" };
}
