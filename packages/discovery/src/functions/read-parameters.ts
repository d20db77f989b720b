import type { Node, ObjectPattern, TSType } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import { parseProgram } from "@cem/program";
import { allowsUndefined, memberName } from "../schemas/read-object.ts";
import { describeSchema, literalSchema, objectSchema, referenceName } from "../schemas/schema-reader.ts";
import type { SchemaReader, Scope } from "../schemas/schema-reader.ts";
import type { ParameterTag } from "../source/doc-comment.ts";

const FUNCTION_TYPES = [
  "ArrowFunctionExpression",
  "FunctionDeclaration",
  "FunctionExpression",
  "TSDeclareFunction",
  "TSFunctionType",
] as const;
export type FunctionNode = Extract<Node, { type: (typeof FUNCTION_TYPES)[number] }>;

export function isFunction(node: Node): node is FunctionNode {
  return FUNCTION_TYPES.some((type) => type === node.type);
}

/** The function an expression evaluates to, through `as`, `satisfies` and parentheses. */
export function exportedFunction(node: Node): FunctionNode | undefined {
  if (isFunction(node)) return node;
  if (
    node.type === "TSAsExpression" ||
    node.type === "TSSatisfiesExpression" ||
    node.type === "ParenthesizedExpression"
  ) {
    return exportedFunction(node.expression);
  }
  return undefined;
}

export function annotatedType(annotation: Node | null | undefined): TSType | undefined {
  return annotation?.type === "TSTypeAnnotation" ? annotation.typeAnnotation : undefined;
}

const MAX_TYPE_CHARACTERS = 2_000;

/** Parses a JSDoc type, such as `?string` or `Array.<number>`; `undefined` when it is not a valid type. */
export function parseJsDocType(text: string): TSType | undefined {
  if (text.length > MAX_TYPE_CHARACTERS) return undefined;
  const parsed = parseProgram(`type T = ${toTypeScript(text)};`);
  const statement = parsed.ok ? parsed.program.ast.program.body[0] : undefined;
  return statement?.type === "TSTypeAliasDeclaration" ? statement.typeAnnotation : undefined;
}

function toTypeScript(text: string): string {
  const plain = text
    .replace(/^\.\.\./, "")
    .replace(/[=!]$/, "")
    .replace(/^!/, "")
    .replaceAll(".<", "<")
    .replaceAll(/\b(?:Object|object)\b(?!\s*<)/g, "object")
    .replaceAll(/\bObject\s*</g, "Record<");
  if (plain === "*" || plain === "?") return "unknown";
  return plain.startsWith("?") ? `${plain.slice(1)} | null` : plain;
}

export interface Parameter {
  name: string;
  schema: JsonSchema;
  isOptional: boolean;
  isRest: boolean;
  isObject: boolean;
}

interface ParameterSource {
  node: FunctionNode;
  scope: Scope;
  reader: SchemaReader;
  tags: readonly ParameterTag[];
}

/** Names of a single parameter of unknown type that is assumed to be an object. */
const OBJECT_NAME = /^(?:inputs?|args|arguments|params|parameters|options|opts|request|props|payload)$/;

export function readParameters(source: ParameterSource): Parameter[] {
  const { node } = source;
  const parameters = node.params.filter(
    (parameter) => !(parameter.type === "Identifier" && parameter.name === "this"),
  );
  const isOnly = parameters.length === 1;
  return parameters.map((parameter, index) =>
    readParameter(source, parameter, isOnly ? "input" : `argument${index + 1}`, isOnly),
  );
}

function readParameter(source: ParameterSource, node: Node, fallbackName: string, isOnly: boolean) {
  const { scope, reader, tags } = source;
  const isRest = node.type === "RestElement";
  const isAssigned = node.type === "AssignmentPattern";
  const target: Node = isAssigned ? node.left : isRest ? node.argument : node;
  const name = target.type === "Identifier" ? target.name.replace(/^_+(?=.)/, "") : fallbackName;
  const mine = tags.filter((tag) => tag.name === name || tag.name.startsWith(`${name}.`));
  const own = mine.find((tag) => tag.name === name);
  const type =
    annotatedType("typeAnnotation" in node ? node.typeAnnotation : null) ??
    annotatedType("typeAnnotation" in target ? target.typeAnnotation : null) ??
    (own?.type === undefined ? undefined : parseJsDocType(own.type));
  const value = isAssigned ? reader.valueOf(node.right, scope.module) : undefined;
  const hasDefault = value !== undefined && typeof value !== "object";
  const untyped = hasDefault ? withoutConst(literalSchema(value)) : {};
  let schema = type ? reader.schemaOf(type, scope) : untyped;
  if (target.type === "ObjectPattern") schema = withPattern(source, schema, target, type !== undefined);
  schema = withTags(source, schema, isOnly ? tags : mine, name, isOnly);
  if (hasDefault) {
    if (Object.keys(schema).length === 0) schema = untyped;
    schema = describeSchema(schema, { default: value });
  }
  const isMarked = target.type === "Identifier" && target.optional === true;
  return {
    name,
    schema: isRest && schema.type !== "array" ? { type: "array" } : schema,
    isOptional:
      isAssigned || isMarked || own?.optional === true || (type !== undefined && allowsUndefined(type)),
    isRest,
    isObject: target.type === "ObjectPattern" || takesObject(schema, type, name),
  };
}

function takesObject(schema: JsonSchema, type: TSType | undefined, name: string): boolean {
  if (schema.type === "object" || typeof schema["$ref"] === "string" || schema["allOf"]) return true;
  if (schema.anyOf) return schema.anyOf.every((part) => part.type === "object");
  const isUnknown = schema.type === undefined && !schema.enum && schema.const === undefined;
  if (!isUnknown) return false;
  const isInputType = /(?:Input|Args|Params|Parameters|Options|Request|Props)$/.test(
    referenceName(type) ?? "",
  );
  return isInputType || OBJECT_NAME.test(name);
}

/** Adds what the destructuring pattern says: names when there are no types, and default values. */
function withPattern(
  { scope, reader }: ParameterSource,
  schema: JsonSchema,
  pattern: ObjectPattern,
  isTyped: boolean,
): JsonSchema {
  const properties = new Map(Object.entries(schema.properties ?? {}));
  const required = new Set(schema.required);
  for (const element of pattern.properties) {
    if (element.type !== "ObjectProperty") continue;
    const name = memberName(element.key, element.computed);
    if (name === undefined) continue;
    const assigned = element.value.type === "AssignmentPattern" ? element.value : undefined;
    const value = assigned && reader.valueOf(assigned.right, scope.module);
    const present = properties.get(name);
    if (!present && isTyped) continue;
    const base = present ?? (value === undefined ? {} : withoutConst(literalSchema(value)));
    properties.set(name, value === undefined ? base : describeSchema(base, { default: value }));
    if (assigned) required.delete(name);
    else if (!isTyped) required.add(name);
  }
  const { required: _required, ...rest } = schema;
  return { ...rest, ...objectSchema(properties, required) };
}

/** Adds what `@param` tags say about the parameter or, for an object, its properties. */
function withTags(
  { scope, reader }: ParameterSource,
  schema: JsonSchema,
  tags: readonly ParameterTag[],
  parameterName: string,
  isOnly: boolean,
): JsonSchema {
  let described = schema;
  const properties = new Map(Object.entries(schema.properties ?? {}));
  const required = new Set(schema.required);
  for (const tag of tags) {
    const [head = "", ...path] = tag.name.split(".");
    const isSelf = path.length === 0 && head === parameterName;
    if (isSelf) {
      if (tag.text !== "" && described.description === undefined)
        described = describeSchema(described, { description: tag.text });
      continue;
    }
    const name = path.length === 1 ? path[0] : path.length === 0 && isOnly ? head : undefined;
    if (name === undefined) continue;
    const present = properties.get(name);
    const isUntyped = !present || Object.keys(present).length === 0;
    if (!present && schema.properties && tag.type === undefined) continue;
    const type = isUntyped && tag.type !== undefined ? parseJsDocType(tag.type) : undefined;
    const base = type ? reader.schemaOf(type, scope) : (present ?? {});
    const isDescribed = tag.text === "" || base.description !== undefined;
    properties.set(name, isDescribed ? base : describeSchema(base, { description: tag.text }));
    if (tag.optional) required.delete(name);
    else if (!present) required.add(name);
  }
  if (properties.size === 0 || (described.type !== undefined && described.type !== "object"))
    return described;
  const { required: _required, ...rest } = described;
  return { ...rest, ...objectSchema(properties, required) };
}

function withoutConst(schema: JsonSchema): JsonSchema {
  return { type: schema.type ?? "string" };
}
