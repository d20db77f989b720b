import { isNever, isObject } from "@cem/core";
import { compactJson } from "../canonical-json.ts";
import { propertyKey, quote } from "../safe-text.ts";
import { asEntries, asList, keywordsOf, own, referenceOf, type Keywords } from "./keywords.ts";
import type { SchemaObject } from "./keywords.ts";
import { intersectionOf, NEVER, NULL, textNode, unionOf, UNKNOWN } from "./type-node.ts";
import type { Member, NamedType, ObjectNode, TypeNode } from "./type-node.ts";

export interface TypeContext {
  /** The named type that the schema becomes part of. */
  owner: NamedType;
  /** Whether no object, array or tuple type is between the schema and its owner. */
  direct: boolean;
  /** Whether it is the whole schema of its owner. */
  isRoot: boolean;
  /** Whether its type is intersected with another, as that of a member of `allOf` is. */
  beside?: boolean | undefined;
  /** Number of objects and arrays around it in its owner. */
  nesting: number;
  /** Number of schemas around it, as a bound on the call stack. */
  depth: number;
  /** The name of the property, from which a named type gets its name. */
  property: string;
}

function inside(context: TypeContext, property: string): TypeContext {
  const { owner, nesting, depth } = context;
  return { owner, direct: false, isRoot: false, nesting: nesting + 1, depth: depth + 1, property };
}

export interface TypeBuilder {
  /** Whether it is the schema of arguments, in which a property with a default may be left out. */
  isInput: boolean;
  read(schema: unknown, context: TypeContext): TypeNode;
  /** A reference to the named type of a schema. `undefined` for a schema whose type is written inline. */
  named(schema: SchemaObject, keywords: Keywords, context: TypeContext): TypeNode | undefined;
  reference(reference: string, context: TypeContext): TypeNode;
  warn(message: string): void;
}

const SIMPLE_TYPES: ReadonlyMap<unknown, TypeNode> = new Map([
  ["string", textNode("string")],
  ["number", textNode("number")],
  ["integer", textNode("number")],
  ["boolean", textNode("boolean")],
  ["null", NULL],
]);

export function readSchema(schema: unknown, context: TypeContext, builder: TypeBuilder): TypeNode {
  if (schema === true) return UNKNOWN;
  if (isNever(schema)) return NEVER;
  if (!isObject(schema)) {
    builder.warn("A schema is neither an object nor a boolean; its type is unknown.");
    return UNKNOWN;
  }
  const keywords = keywordsOf(schema);
  return builder.named(schema, keywords, context) ?? readKeywords(keywords, context, builder);
}

export function readKeywords(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const type = readAlternatives(schema, context, builder);
  return schema["nullable"] === true ? unionOf([type, NULL]) : type;
}

const COMBINING = ["$ref", "allOf", "anyOf", "oneOf", "$dynamicRef", "$recursiveRef"];

function readAlternatives(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  if ("const" in schema) return literalType(schema["const"]);
  const values = asList(schema["enum"]);
  if (values !== undefined && values.length > 0)
    return unionOf([...new Set(values)].map(values.length > MAX_LITERALS ? widened : literalType));

  if (!COMBINING.some((keyword) => keyword in schema)) return readTypes(schema, context, builder);
  const parts = readCombined(schema, context, builder).filter((part) => part !== UNKNOWN);
  if (parts.length === 0) return readTypes(schema, context, builder);
  // A bare "type" beside alternatives adds nothing, and sometimes contradicts them.
  if (!hasStructure(schema)) return intersectionOf(parts);
  return intersectionOf([readTypes(schema, { ...context, beside: true }, builder), ...parts]);
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
  if (isObject(type)) return builder.read(type, { ...context, depth: context.depth + 1 });
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

/** The index signature is `unknown` when it would be a union of more types than this. */
const MAX_INDEX_TYPES = 8;

function readObject(schema: Keywords, context: TypeContext, builder: TypeBuilder): ObjectNode {
  const properties = schema["properties"];
  if (properties !== undefined && !isObject(properties)) {
    builder.warn("`properties` is not an object; it is ignored.");
  }
  const required = new Set(asList(schema["required"])?.filter((name) => typeof name === "string"));
  const given = isObject(properties) ? properties : {};
  const members = Object.keys(given).map((name): Member => {
    const property = given[name];
    const isNeeded = required.delete(name) || own(property, "required") === true;
    const isRequired = isNeeded && !(builder.isInput && own(property, "default") !== undefined);
    const type = builder.read(property, inside(context, name));
    // Every object inherits `toString`: with an optional `toString: string` the value `{}` would not compile.
    const isInherited = !isRequired && Object.hasOwn(Object.prototype, name);
    return { name, type: isInherited ? UNKNOWN : type, optional: !isRequired, schema: property };
  });
  const additional = schema["additionalProperties"];
  const other =
    required.size > 0 && isObject(additional) ? builder.read(additional, inside(context, "value")) : UNKNOWN;
  for (const name of required) members.push({ name, type: other, optional: false });
  const known = new Set(members.map(({ name }) => name));
  for (const name of isNever(additional) ? [] : conditionalNames(schema))
    if (!known.has(name)) members.push({ name, type: UNKNOWN, optional: true });
  return { kind: "object", members, index: readIndex(schema, members, context, builder) };
}

/** The properties that an object may need only in some cases, or together with others. */
function conditionalNames(schema: Keywords): Set<string> {
  const parts = [schema, ...(asList(schema["allOf"]) ?? [])].flatMap((part) => [
    own(part, "then"),
    own(part, "else"),
    ...asEntries(own(part, "dependentSchemas")).map(([, dependent]) => dependent),
  ]);
  return new Set(parts.flatMap((part) => asEntries(own(part, "properties")).map(([name]) => name)));
}

function readIndex(schema: Keywords, members: readonly Member[], context: TypeContext, builder: TypeBuilder) {
  const given = schema["additionalProperties"];
  const additional = isNever(given) ? false : given;
  const patterns = asEntries(schema["patternProperties"]).map(([, pattern]) => pattern);
  const values = [...patterns, ...(isObject(additional) || additional === true ? [additional] : [])];
  if (values.length === 0) {
    if (context.beside === true) return undefined;
    const isNamed = isObject(schema["properties"]);
    if (members.length > 0) return isNamed ? undefined : UNKNOWN;
    return additional === false || (context.isRoot && isNamed) ? NEVER : UNKNOWN;
  }
  const type = unionOf(values.map((value) => builder.read(value, inside(context, "value"))));
  return fittingIndex(type, members);
}

/** TypeScript requires that the index signature's type includes the types of all named properties. */
function fittingIndex(type: TypeNode, members: readonly Member[]): TypeNode {
  if (members.length === 0) return type;
  const optional = members.some((member) => member.optional) ? [textNode("undefined")] : [];
  const fitting = unionOf([type, ...members.map((member) => member.type), ...optional]);
  const parts = fitting.kind === "union" ? fitting.parts : [fitting];
  const brief = parts.every(
    (part) => part.kind === "reference" || (part.kind === "text" && part.text.length <= 40),
  );
  return brief && parts.length <= MAX_INDEX_TYPES ? fitting : UNKNOWN;
}

/** A longer tuple is written as an array. */
const MAX_TUPLE_ITEMS = 32;

/** Reads the array or tuple type of a schema. The length of an array without tuple items is not expressed. */
function readArray(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const items = schema["items"];
  const first = asList(schema["prefixItems"]) ?? asList(items) ?? [];
  const read = (part: unknown): TypeNode => builder.read(part, inside(context, "item"));
  if (first.length === 0) {
    return { kind: "array", item: items === undefined || Array.isArray(items) ? UNKNOWN : read(items) };
  }
  const further = Array.isArray(items) || items === undefined ? schema["additionalItems"] : items;
  const rest = further === undefined || isNever(further) ? undefined : read(further);
  const types = first.map(read);
  if (types.length > MAX_TUPLE_ITEMS) {
    return { kind: "array", item: unionOf(rest === undefined ? types : [...types, rest]) };
  }
  const [least, most] = [schema["minItems"], schema["maxItems"]];
  return {
    kind: "tuple",
    items: types,
    required:
      typeof least === "number" && least >= 0 ? Math.min(Math.ceil(least), types.length) : types.length,
    rest: rest ?? (typeof most === "number" && most > types.length ? UNKNOWN : undefined),
  };
}

/** An enum with more values is written as the types of its values. */
const MAX_LITERALS = 500;
const MAX_LITERAL_CHARACTERS = 300;

/** The literal type of a value; its general type when it is long. */
function literalType(value: unknown): TypeNode {
  const isShort = compactJson(value, MAX_LITERAL_CHARACTERS) !== undefined;
  return isShort ? textNode(literalText(value)) : widened(value);
}

function literalText(value: unknown): string {
  if (typeof value === "string") return quote(value);
  if (typeof value === "number" && !Number.isFinite(value)) return "number";
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "unknown";
  if (Array.isArray(value)) return `[${value.map(literalText).join(", ")}]`;
  const entries = Object.entries(value);
  if (entries.length === 0) return "{ [key: string]: never }";
  return `{ ${entries.map(([key, entry]) => `${propertyKey(key)}: ${literalText(entry)}`).join("; ")} }`;
}

function widened(value: unknown): TypeNode {
  if (Array.isArray(value)) return textNode("unknown[]");
  if (value === null) return textNode("null");
  if (typeof value === "object") return textNode("{ [key: string]: unknown }");
  return textNode(typeof value);
}
