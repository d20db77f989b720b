import type { Node, TSImportType, TSType, TSTypeParameter, TSTypeReference } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import { nameOf } from "@cem/program";
import { lastBefore } from "../source/doc-comment.ts";
import type { Declaration } from "../source/source-module.ts";
import { readBuiltin } from "./read-derived.ts";
import { readObject } from "./read-object.ts";
import { describeSchema, enumSchema, intersectionSchema, readArgument } from "./schema-reader.ts";
import type { SchemaReader, Scope, TypeArgument } from "./schema-reader.ts";

export function readReference(reader: SchemaReader, type: TSTypeReference | TSImportType, scope: Scope) {
  const types = type.typeArguments?.params ?? [];
  if (type.type === "TSImportType") {
    if (type.qualifier?.type !== "Identifier") return {};
    const found = reader.findIn(type.source.value, type.qualifier.name, scope.module);
    return found ? readDeclaration(reader, found, types, scope) : {};
  }
  if (type.typeName.type !== "Identifier") return readQualified(reader, type, scope);
  return readNamed(reader, type.typeName.name, types, scope);
}

function readNamed(reader: SchemaReader, name: string, types: readonly TSType[], scope: Scope): JsonSchema {
  const parameter = scope.parameters.get(name);
  if (parameter) return readArgument(reader, parameter);
  const found = reader.find(name, scope.module);
  return found ? readDeclaration(reader, found, types, scope) : readBuiltin(reader, name, types, scope);
}

/** Reads `Color.Red` of an enum, or `types.Color` of a namespace import. */
function readQualified(reader: SchemaReader, type: TSTypeReference, scope: Scope): JsonSchema {
  if (type.typeName.type !== "TSQualifiedName" || type.typeName.left.type !== "Identifier") return {};
  const { left, right } = type.typeName;
  const origin = scope.module.imports.get(left.name);
  if (origin?.imported === "*") {
    const found = reader.findIn(origin.specifier, right.name, scope.module);
    return found ? readDeclaration(reader, found, type.typeArguments?.params ?? [], scope) : {};
  }
  const found = reader.find(left.name, scope.module);
  if (found?.kind !== "enum") return {};
  const value = enumMembers(found, reader).get(right.name);
  return value === undefined ? {} : enumSchema([value]);
}

function readDeclaration(reader: SchemaReader, found: Declaration, types: readonly TSType[], scope: Scope) {
  const { module } = found;
  if (found.kind === "constant") return {};
  if (found.kind === "enum") {
    const schema = enumSchema([...enumMembers(found, reader).values()]);
    return withSummary(schema, found.node, found);
  }
  const node = found.kind === "interface" ? found.nodes[0] : found.node;
  if (!node) return {};
  const declared =
    node.typeParameters?.type === "TSTypeParameterDeclaration" ? node.typeParameters.params : [];
  const inside: Scope = { module, parameters: bind(declared, types, scope, module) };
  const key = `${module.file}:${node.start}:${types.map((type) => scope.module.code.slice(type.start ?? 0, type.end ?? 0)).join()}`;
  return reader.named(key, node.id?.name ?? "", () => {
    if (found.kind === "alias")
      return withSummary(reader.schemaOf(found.node.typeAnnotation, inside), found.node, found);
    if (found.kind === "class") {
      const schema = readObject(reader, found.node.body.body, inside);
      // Members that the constructor declares are not read.
      const isKnown = Object.keys(schema.properties ?? {}).length > 0;
      return withSummary(isKnown ? schema : {}, found.node, found);
    }
    const inherited = found.nodes
      .flatMap((each) => each.extends ?? [])
      .map(({ expression, typeArguments }) =>
        expression.type === "Identifier"
          ? readNamed(reader, expression.name, typeArguments?.params ?? [], inside)
          : {},
      );
    const own = found.nodes.map((each) => readObject(reader, each.body.body, inside));
    return withSummary(intersectionSchema([...inherited, ...own]), node, found);
  });
}

function bind(
  declared: readonly TSTypeParameter[],
  types: readonly TSType[],
  outside: Scope,
  module: Scope["module"],
): Map<string, TypeArgument> {
  const bound = new Map<string, TypeArgument>();
  for (const [index, parameter] of declared.entries()) {
    const given = types[index];
    const fallback = parameter.default ?? parameter.constraint;
    const argument: TypeArgument = given
      ? { type: given, scope: outside }
      : fallback
        ? { type: fallback, scope: { module, parameters: new Map(bound) } }
        : { schema: {} };
    bound.set(parameter.name.name, argument);
  }
  return bound;
}

/** Adds the doc comment of a type's declaration, unless the schema has a description. */
function withSummary(schema: JsonSchema, node: Node, found: Declaration): JsonSchema {
  if (schema.description !== undefined) return schema;
  const { summary } = found.module.comments.of(statementOf(node, found));
  return describeSchema(schema, summary === "" ? {} : { description: summary });
}

/** The statement of a declaration, including `export`: the doc comment is before it. */
function statementOf(node: Node, found: Declaration): Node {
  const { body } = found.module.ast.program;
  const start = node.start ?? 0;
  const statement = body[lastBefore(body, start) + 1];
  return statement !== undefined && (statement.start ?? 0) <= start ? statement : node;
}

function enumMembers(found: Declaration & { kind: "enum" }, reader: SchemaReader) {
  const members = new Map<string, string | number>();
  let next = 0;
  for (const { id, initializer } of found.node.body.members) {
    const written = initializer ? reader.valueOf(initializer, found.module) : next;
    if (typeof written !== "string" && typeof written !== "number") continue;
    if (typeof written === "number") next = written + 1;
    members.set(nameOf(id), written);
  }
  return members;
}
