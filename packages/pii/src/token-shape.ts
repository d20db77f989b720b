import type { JsonSchema } from "@cem/core";
import type { TokenShape } from "./vault.ts";

/** Longer than every plain token of a type that is known. */
const PLAIN_CHARACTERS = 34;
const SHAPES: Readonly<Record<string, TokenShape>> = {
  email: "email",
  "idn-email": "email",
  uri: "uri",
  url: "uri",
  iri: "uri",
  "uri-reference": "uri",
  ipv4: "ipv4",
  ipv6: "ipv6",
};
const MAX_SCHEMAS = 64;

/** The shape of a token that satisfies the schema of its place. `undefined`: the schema allows no other value. */
export function tokenShape(
  schema: JsonSchema | undefined,
  path: readonly string[],
  isWhole: boolean,
): TokenShape | undefined {
  if (schema === undefined) return "plain";
  let shape: TokenShape = "plain";
  for (const leaf of schemasAt(schema, path)) {
    if (leaf.enum !== undefined || leaf.const !== undefined) return undefined;
    const { format, pattern, maxLength } = leaf as {
      format?: unknown;
      pattern?: unknown;
      maxLength?: unknown;
    };
    const known = typeof format === "string" ? SHAPES[format] : undefined;
    // Of a text that is more than the value only an address can stand for the whole.
    if (known !== undefined && (isWhole || known === "uri")) return known;
    const isBound = typeof maxLength === "number" && maxLength < PLAIN_CHARACTERS;
    if (typeof format === "string" || typeof pattern === "string" || isBound) shape = "same";
  }
  return shape;
}

/** The schemas of a place in data, through references within the schema and combinations. */
function schemasAt(root: JsonSchema, path: readonly string[]): JsonSchema[] {
  let current = expand(root, [root]);
  for (const name of path) {
    current = expand(
      root,
      current.flatMap((schema) => step(schema, name)),
    );
  }
  return current;
}

function step(schema: JsonSchema, name: string): JsonSchema[] {
  if (name === "*") return [schema.items, ...asList(schema["prefixItems"])].filter(isSchema);
  const property = schema.properties?.[name];
  return isSchema(property) ? [property] : [schema.additionalProperties].filter(isSchema);
}

function expand(root: JsonSchema, schemas: readonly unknown[]): JsonSchema[] {
  const open = [...schemas];
  const found: JsonSchema[] = [];
  for (let schema = open.pop(); schema !== undefined && found.length < MAX_SCHEMAS; schema = open.pop()) {
    if (!isSchema(schema)) continue;
    found.push(schema);
    for (const keyword of ["anyOf", "oneOf", "allOf"]) open.push(...asList(schema[keyword]));
    const reference = schema["$ref"];
    if (typeof reference === "string") open.push(resolve(root, reference));
  }
  return found;
}

function resolve(root: JsonSchema, reference: string): unknown {
  if (!reference.startsWith("#/")) return reference === "#" ? root : undefined;
  let at: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = part.replaceAll("~1", "/").replaceAll("~0", "~");
    at =
      typeof at === "object" && at !== null && Object.hasOwn(at, name)
        ? (at as Record<string, unknown>)[name]
        : undefined;
  }
  return at;
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
