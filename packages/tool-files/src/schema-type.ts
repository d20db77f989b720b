import { enumType, literalType } from "./literal-type.ts";
import { readArray } from "./array-type.ts";
import { readObject } from "./object-type.ts";
import { asList, isRecord, type Keywords, keywordsOf, referenceOf } from "./schema-reader.ts";
import type { TypeContext, TypeBuilder } from "./type-builder.ts";
import { intersectionOf, NEVER, NULL, textNode, type TypeNode, UNKNOWN, unionOf } from "./type-node.ts";

const SIMPLE_TYPES: ReadonlyMap<unknown, TypeNode> = new Map([
  ["string", textNode("string")],
  ["number", textNode("number")],
  ["integer", textNode("number")],
  ["boolean", textNode("boolean")],
  ["null", NULL],
]);

/** Reads a schema, whatever value it is. */
export function readSchema(schema: unknown, context: TypeContext, builder: TypeBuilder): TypeNode {
  if (schema === true) return UNKNOWN;
  if (schema === false) return NEVER;
  if (!isRecord(schema)) {
    builder.warn("A schema is neither an object nor a boolean; its type is unknown.");
    return UNKNOWN;
  }
  const keywords = keywordsOf(schema);
  return builder.named(schema, keywords, context) ?? readKeywords(keywords, context, builder);
}

/** Reads the type of a schema from its keywords. */
export function readKeywords(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const type = readAlternatives(schema, context, builder);
  return schema["nullable"] === true ? unionOf([type, NULL]) : type;
}

function readAlternatives(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  if ("const" in schema) return literalType(schema["const"]);
  const values = asList(schema["enum"]);
  if (values !== undefined && values.length > 0) return enumType(values);

  if (!combines(schema)) return readTypes(schema, context, builder);
  const parts = readCombined(schema, context, builder).filter((part) => part !== UNKNOWN);
  if (parts.length === 0) return readTypes(schema, context, builder);
  // A bare "type" beside alternatives adds nothing, and sometimes contradicts them.
  if (!hasStructure(schema)) return intersectionOf(parts);
  return intersectionOf([readTypes(schema, { ...context, beside: true }, builder), ...parts]);
}

/** Whether the schema has keywords that combine other schemas. */
function combines(schema: Keywords): boolean {
  return (
    "$ref" in schema ||
    "allOf" in schema ||
    "anyOf" in schema ||
    "oneOf" in schema ||
    "$dynamicRef" in schema ||
    "$recursiveRef" in schema
  );
}

/** The types of `$ref`, `allOf`, `anyOf` and `oneOf`. TypeScript has no equivalent of `not` and `if`. */
function readCombined(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode[] {
  const parts: TypeNode[] = [];
  const reference = referenceOf(schema);
  if (reference !== undefined) parts.push(builder.reference(reference, context));
  const all = asList(schema["allOf"]) ?? [];
  const beside = context.beside === true || hasStructure(schema) || all.length > 1;
  const inner: TypeContext = { ...context, depth: context.depth + 1, isRoot: false, beside };
  const read = (part: unknown): TypeNode => builder.read(part, inner);
  parts.push(...all.map(read));
  for (const keyword of ["anyOf", "oneOf"]) {
    const choices = asList(schema[keyword]) ?? [];
    if (choices.length > 0) parts.push(unionOf(choices.map(read)));
  }
  return parts;
}

function readTypes(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const declared = schema["type"];
  if (typeof declared === "string") return readType(declared, schema, context, builder);
  const types = asList(declared) ?? (declared === undefined ? impliedTypes(schema) : [declared]);
  return unionOf(types.map((type) => readType(type, schema, context, builder)));
}

function readType(type: unknown, schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const simple = SIMPLE_TYPES.get(type);
  if (simple !== undefined) return simple;
  if (type === "object") return readObject(schema, context, builder);
  if (type === "array") return readArray(schema, context, builder);
  // In draft 3 a list of types may contain schemas.
  if (isRecord(type)) return builder.read(type, { ...context, depth: context.depth + 1 });
  if (type !== "any") builder.warn("A `type` is not one of JSON Schema; it is read as unknown.");
  return UNKNOWN;
}

const OBJECT_KEYWORDS = ["properties", "required", "patternProperties", "additionalProperties"];
const ARRAY_KEYWORDS = ["items", "prefixItems"];

function impliedTypes(schema: Keywords): string[] {
  if (OBJECT_KEYWORDS.some((keyword) => typeof schema[keyword] === "object")) return ["object"];
  return ARRAY_KEYWORDS.some((keyword) => typeof schema[keyword] === "object") ? ["array"] : [];
}

/** Whether the schema itself, apart from its alternatives, describes properties or items. */
function hasStructure(schema: Keywords): boolean {
  return [...OBJECT_KEYWORDS, ...ARRAY_KEYWORDS].some((keyword) => {
    const value = schema[keyword];
    return typeof value === "object" && value !== null && Object.keys(value).length > 0;
  });
}
