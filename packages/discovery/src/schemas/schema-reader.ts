import type { Node, TSType } from "@babel/types";
import type { JsonSchema, JsonValue } from "@cem/core";
import { printSchemaType } from "@cem/tool-files";
import type { Declaration, SourceModule } from "../source/source-module.ts";

/** Type texts of schemas that can't express their type: a `Date` is a string in JSON. */
const texts = new WeakMap<JsonSchema, string>();

export function withTypeText(schema: JsonSchema, text: string): JsonSchema {
  texts.set(schema, text);
  return schema;
}

/** Prints a schema, with the definitions of its document, as a TypeScript type on one line. */
export function typeTextOf(schema: JsonSchema, document: JsonSchema): string {
  const { $defs } = document;
  const whole = $defs === undefined ? schema : describeSchema(schema, { $defs });
  return printSchemaType(whole, (one) => texts.get(one));
}

/** The name of a type that is referred to by a plain name. */
export function referenceName(type: TSType | undefined): string | undefined {
  return type?.type === "TSTypeReference" && type.typeName.type === "Identifier"
    ? type.typeName.name
    : undefined;
}

export function literalSchema(value: JsonValue): JsonSchema {
  if (value === null) return { type: "null" };
  if (typeof value === "object") return {};
  return { type: typeof value, const: value };
}

/** The schema of a union: literals become an enum; a member that allows anything makes the whole allow anything. */
export function unionSchema(members: readonly JsonSchema[]): JsonSchema {
  const flat = members.flatMap((member) => (isPlainUnion(member) ? (member.anyOf ?? []) : [member]));
  if (flat.some((member) => Object.keys(member).length === 0)) return {};
  const values = flat.flatMap((member) => literalsOf(member) ?? []);
  const others = flat.filter((member) => literalsOf(member) === undefined);
  const isAnyBoolean = values.includes(true) && values.includes(false);
  const literals = isAnyBoolean ? values.filter((value) => typeof value !== "boolean") : values;
  const enums = literals.length > 0 ? [enumSchema(literals)] : [];
  const booleans = isAnyBoolean ? [{ type: "boolean" }] : [];
  const distinct = new Map([...enums, ...booleans, ...others].map((part) => [JSON.stringify(part), part]));
  const parts = [...distinct.values()];
  const [only] = parts;
  if (!only) return {};
  return parts.length === 1 ? only : { anyOf: parts };
}

/** The schema of an intersection: objects are merged, anything else becomes `allOf`. */
export function intersectionSchema(members: readonly JsonSchema[]): JsonSchema {
  const parts = members.filter((member) => Object.keys(member).length > 0);
  const branded = parts.find((part) => part.type !== "object");
  if (branded && parts.every((part) => part === branded || isEmptyObject(part))) return branded;
  if (parts.every(isPlainObject)) return mergeObjects(parts);
  return parts.length === 1 ? (parts[0] ?? {}) : parts.length === 0 ? {} : { allOf: parts };
}

function mergeObjects(parts: readonly JsonSchema[]): JsonSchema {
  const properties = parts.flatMap((part) => Object.entries(part.properties ?? {}));
  const required = new Set(parts.flatMap((part) => part.required ?? []));
  const rest = parts.findLast((part) => part.additionalProperties !== undefined)?.additionalProperties;
  const description = parts.findLast((part) => part.description !== undefined)?.description;
  const more: JsonSchema = {};
  if (rest !== undefined) more.additionalProperties = rest;
  if (description !== undefined) more.description = description;
  return objectSchema(properties, required, more);
}

export function objectSchema(
  properties: Iterable<readonly [name: string, schema: JsonSchema]>,
  required: Iterable<string>,
  more: JsonSchema = {},
): JsonSchema {
  const schema: JsonSchema = { type: "object", ...more, properties: Object.fromEntries(properties) };
  const names = [...required];
  return names.length > 0 ? { ...schema, required: names } : schema;
}

export function arrayOf(items: JsonSchema): JsonSchema {
  return Object.keys(items).length === 0 ? { type: "array" } : { type: "array", items };
}

export function enumSchema(values: readonly JsonValue[]): JsonSchema {
  const distinct = [...new Set(values)];
  const [first] = distinct;
  if (first !== undefined && distinct.length === 1) return literalSchema(first);
  const types = [...new Set(distinct.map((value) => (value === null ? "null" : typeof value)))];
  return types.length === 1 ? { type: types[0] ?? "string", enum: distinct } : { enum: distinct };
}

/** The values of a literal or an enum; undefined for any other schema. `null` alone is a type, not a literal. */
export function literalsOf(schema: JsonSchema): JsonValue[] | undefined {
  if (schema.const !== undefined) return [schema.const];
  return schema.enum;
}

/** The property names that a schema of literals allows, for `Pick` and the like. */
export function keysOf(schema: JsonSchema): string[] {
  const parts = schema.anyOf ?? [schema];
  return parts
    .flatMap((part) => literalsOf(part) ?? [])
    .filter((value) => typeof value === "string" || typeof value === "number")
    .map(String);
}

export function isPlainObject(schema: JsonSchema): boolean {
  return schema.type === "object" && !schema.anyOf && !schema["allOf"];
}

/** Adds keywords, such as those from a doc comment, and keeps the type text of the schema. */
export function describeSchema(schema: JsonSchema, more: JsonSchema): JsonSchema {
  if (Object.keys(more).length === 0) return schema;
  const text = texts.get(schema);
  const copy = { ...schema, ...more };
  return text === undefined ? copy : withTypeText(copy, text);
}

function isEmptyObject(schema: JsonSchema): boolean {
  return isPlainObject(schema) && Object.keys(schema.properties ?? {}).length === 0;
}

function isPlainUnion(schema: JsonSchema): boolean {
  return schema.anyOf !== undefined && Object.keys(schema).length === 1;
}

export interface Scope {
  module: SourceModule;
  parameters: ReadonlyMap<string, TypeArgument>;
}

export type TypeArgument = { type: TSType; scope: Scope } | { schema: JsonSchema };

/** Loads the module that a file imports by a specifier; `undefined` when there is none or it must not be read. */
export type ModuleLoader = (from: string, specifier: string) => SourceModule | undefined;

/** Turns types into schemas. Passed to the readers of each kind of type, for the types inside. */
export interface SchemaReader {
  schemaOf(type: TSType, scope: Scope): JsonSchema;
  /** Finds what a name in a file refers to, there or in a file it imports from. */
  find(name: string, module: SourceModule): Declaration | undefined;
  findIn(specifier: string, name: string, module: SourceModule): Declaration | undefined;
  /** Evaluates an expression of literals and constants in a file. `undefined` for any other expression. */
  valueOf(node: Node, module: SourceModule): JsonValue | undefined;
  /** Runs `read` for a named type, and makes the result a definition if the type contains itself. */
  named(key: string, name: string, read: () => JsonSchema): JsonSchema;
}

export function readArgument(reader: SchemaReader, argument: TypeArgument): JsonSchema {
  return "schema" in argument ? argument.schema : reader.schemaOf(argument.type, argument.scope);
}
