import type { Node, TSType, TSTypeElement } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import { schemaTags } from "./schema-tags.ts";
import { describeSchema, objectSchema } from "./schema-combine.ts";
import type { ModuleLoader, SchemaReader, Scope } from "./schema-reader.ts";

/** Reads the members of an interface, a type literal or a class. */
export function readObject(
  reader: SchemaReader,
  members: readonly (TSTypeElement | Node)[],
  scope: Scope,
  load: ModuleLoader,
): JsonSchema {
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
    const tags = schemaTags(scope.module.comments.of(member), scope.module, load);
    properties.push([property.name, describeSchema(schema, tags)]);
    if (!property.isOptional && tags.default === undefined) required.push(property.name);
  }
  return objectSchema(
    Object.fromEntries(properties),
    [...new Set(required)],
    additionalProperties ? { additionalProperties } : {},
  );
}

/** Whether a type includes `undefined`, which JSON can only express by leaving the property out. */
export function allowsUndefined(type: TSType): boolean {
  return (
    type.type === "TSUndefinedKeyword" || (type.type === "TSUnionType" && type.types.some(allowsUndefined))
  );
}

function readMember(
  member: Node,
): { name: string; type?: TSType | undefined; isOptional: boolean } | undefined {
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

/** The name of a member; `undefined` for a computed one. */
export function memberName(key: Node, isComputed: boolean): string | undefined {
  if (key.type === "StringLiteral") return key.value;
  if (key.type === "NumericLiteral") return String(key.value);
  return key.type === "Identifier" && !isComputed ? key.name : undefined;
}
