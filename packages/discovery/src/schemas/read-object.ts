import type { Node, TSType } from "@babel/types";
import type { JsonSchema, JsonValue } from "@cem/core";
import type { DocComment } from "../source/doc-comment.ts";
import type { SourceModule } from "../source/source-module.ts";
import { describeSchema, objectSchema, type SchemaReader, type Scope } from "./schema-reader.ts";

const NUMBER_KEYWORDS =
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems".split(
    " ",
  );
const NUMBER_TAGS = new Map([
  ["min", "minimum"],
  ["max", "maximum"],
  ...NUMBER_KEYWORDS.map((keyword): [string, string] => [keyword.toLowerCase(), keyword]),
]);

/** Turns a doc comment into schema keywords: description, default, bounds, format, examples. */
function schemaTags(comment: DocComment, module: SourceModule, reader: SchemaReader): JsonSchema {
  const schema: JsonSchema = {};
  if (comment.summary !== "") schema.description = comment.summary;
  for (const { name, text } of comment.tags) {
    const tag = name.toLowerCase();
    const keyword = NUMBER_TAGS.get(tag);
    if (keyword !== undefined) {
      const number = Number(text);
      if (text !== "" && Number.isFinite(number)) schema[keyword] = number;
    } else if (tag === "default" || tag === "defaultvalue") {
      const value = writtenValue(text, module, reader);
      if (value !== undefined) schema.default = value;
    } else if (tag === "example") {
      const value = writtenValue(text, module, reader);
      if (value !== undefined) schema.examples = [...(schema.examples ?? []), value];
    } else if (tag === "format" || tag === "pattern" || tag === "title") {
      if (text !== "") schema[tag] = text;
    } else if (tag === "integer" || tag === "int") {
      schema.type = "integer";
    } else if (tag === "deprecated") {
      schema["deprecated"] = true;
      if (text !== "")
        schema.description = [schema.description, `Deprecated: ${text}`].filter(Boolean).join("\n\n");
    }
  }
  return schema;
}

/** Parses a value in a comment: a number, a quoted or bare word, true, false, null, or a constant's name. */
function writtenValue(text: string, module: SourceModule, reader: SchemaReader): JsonValue | undefined {
  const plain = text.replaceAll(/^`+|(?<!`)`+$/g, "").trim();
  if (plain === "" || plain.includes("\n")) return undefined;
  if (plain === "true" || plain === "false") return plain === "true";
  if (plain === "null") return null;
  if (Number.isFinite(Number(plain))) return Number(plain);
  const quoted = /^(["'])(.*)\1$/.exec(plain);
  if (quoted) return quoted[2] ?? "";
  if (!/^\w[\w.-]*$/.test(plain)) return undefined;
  const found = reader.find(plain, module);
  return found?.kind === "constant" ? reader.valueOf(found.node, found.module) : plain;
}

export function readObject(reader: SchemaReader, members: readonly Node[], scope: Scope): JsonSchema {
  const properties: [string, JsonSchema][] = [];
  const required: string[] = [];
  let additionalProperties: JsonSchema | undefined;
  for (const member of members) {
    if (member.type === "TSIndexSignature") {
      additionalProperties = member.typeAnnotation
        ? reader.schemaOf(member.typeAnnotation.typeAnnotation, scope)
        : {};
      continue;
    }
    const property = readMember(member);
    if (!property) continue;
    const schema = property.type ? reader.schemaOf(property.type, scope) : {};
    const tags = schemaTags(scope.module.comments.of(member), scope.module, reader);
    properties.push([property.name, describeSchema(schema, tags)]);
    if (!property.isOptional && tags.default === undefined) required.push(property.name);
  }
  return objectSchema(properties, new Set(required), additionalProperties ? { additionalProperties } : {});
}

/** Whether a type includes `undefined`, which JSON can only express by leaving the property out. */
export function allowsUndefined(type: TSType): boolean {
  return (
    type.type === "TSUndefinedKeyword" || (type.type === "TSUnionType" && type.types.some(allowsUndefined))
  );
}

function readMember(member: Node) {
  if (
    member.type !== "TSPropertySignature" &&
    member.type !== "TSMethodSignature" &&
    member.type !== "ClassProperty"
  )
    return undefined;
  if (member.type === "ClassProperty" && (member.static || (member.accessibility ?? "public") !== "public"))
    return undefined;
  const name = memberName(member.key, member.computed ?? false);
  if (name === undefined) return undefined;
  if (member.type === "TSMethodSignature") return { name, isOptional: member.optional === true };
  const annotation = member.typeAnnotation;
  const type = annotation?.type === "TSTypeAnnotation" ? annotation.typeAnnotation : undefined;
  const isOptional = member.optional === true || (type !== undefined && allowsUndefined(type));
  return { name, isOptional, type };
}

export function memberName(key: Node, isComputed: boolean): string | undefined {
  if (key.type === "StringLiteral") return key.value;
  if (key.type === "NumericLiteral") return String(key.value);
  return key.type === "Identifier" && !isComputed ? key.name : undefined;
}
