import { isObject } from "@cem/core";
import type { JsonSchema, JsonValue } from "@cem/core";
import * as z from "zod";
import { asEntries, asList, own } from "./keywords.ts";

/** The schema of {@link LearnedOutput}. */
export const learnedOutput = z.object({
  /** A schema that all observed results match. */
  schema: z.record(z.string(), z.unknown()),
  /** Number of observed results. */
  results: z.int().positive(),
});

/** The result type inferred for a tool without an output schema. */
export type LearnedOutput = z.infer<typeof learnedOutput>;

/** Values nested deeper are ignored. */
const MAX_LEARNED_DEPTH = 8;
/** An object with more different keys than this is treated as a map. */
const MAX_PROPERTIES = 60;
/** At most this many items of an array are read, evenly spread. */
const MAX_ITEMS = 200;
/** Keys that are data, such as ids, dates and addresses, and must not appear in a type. */
const DATA_KEY = /^(?:\d[\d.:T+-]*|[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|.*[@/\s].*|.{65,})$/i;

/** The types observed at one position of the results. */
interface Shape {
  types: Set<string>;
  properties: Map<string, Shape>;
  /** Names of the properties that every object had. `undefined` before the first object. */
  required: Set<string> | undefined;
  items: Shape | undefined;
  /** The shape of all values of an object that is treated as a map. */
  values: Shape | undefined;
}

/**
 * Infers an output schema from observed results. The schema has names and types of properties, and no values.
 *
 * @param samples - results, at least one unless `earlier` is given.
 * @param earlier - what was inferred before, to which the samples are added.
 */
export function learnOutputSchema(samples: readonly JsonValue[], earlier?: LearnedOutput): LearnedOutput {
  let shape = earlier === undefined ? emptyShape() : fromSchema(earlier.schema, 0);
  for (const sample of samples) shape = merge(shape, fromValue(sample, 0));
  return { schema: toSchema(shape), results: (earlier?.results ?? 0) + samples.length };
}

function emptyShape(): Shape {
  return {
    types: new Set(),
    properties: new Map(),
    required: undefined,
    items: undefined,
    values: undefined,
  };
}

function fromValue(value: JsonValue, depth: number): Shape {
  const shape = emptyShape();
  if (depth > MAX_LEARNED_DEPTH) return shape;
  shape.types.add(typeOf(value));
  if (Array.isArray(value)) {
    const step = Math.max(1, Math.ceil(value.length / MAX_ITEMS));
    const seen = value.filter((_, index) => index % step === 0);
    for (const item of seen) shape.items = merge(shape.items ?? emptyShape(), fromValue(item, depth + 1));
  } else if (typeof value === "object" && value !== null) {
    for (const [name, entry] of Object.entries(value))
      shape.properties.set(name, fromValue(entry, depth + 1));
    shape.required = new Set(shape.properties.keys());
  }
  return withValues(shape);
}

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function merge(a: Shape, b: Shape): Shape {
  const properties = new Map(a.properties);
  for (const [name, shape] of b.properties) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? shape : merge(known, shape));
  }
  const types = new Set([...a.types, ...b.types]);
  if (types.has("number")) types.delete("integer");
  return withValues({
    types,
    properties,
    required: inBoth(a.required, b.required),
    items: mergeOptional(a.items, b.items),
    values: mergeOptional(a.values, b.values),
  });
}

/** The names in both sets; those of one where the other is unknown. */
function inBoth(a: Set<string> | undefined, b: Set<string> | undefined): Set<string> | undefined {
  return a === undefined || b === undefined ? (a ?? b) : new Set([...a].filter((name) => b.has(name)));
}

function mergeOptional(a: Shape | undefined, b: Shape | undefined): Shape | undefined {
  return a !== undefined && b !== undefined ? merge(a, b) : (a ?? b);
}

/** Replaces the properties by one shape for all values where the keys are data. */
function withValues(shape: Shape): Shape {
  const names = [...shape.properties.keys()];
  const areData = names.length > MAX_PROPERTIES || names.some((name) => DATA_KEY.test(name));
  if (shape.values === undefined && !areData) return shape;
  let values = shape.values ?? emptyShape();
  for (const property of shape.properties.values()) values = merge(values, property);
  return { ...shape, properties: new Map(), required: new Set(), values };
}

function toSchema(shape: Shape): JsonSchema {
  const types = [...shape.types].toSorted();
  const [only] = types;
  const schema: JsonSchema = {};
  if (only !== undefined) schema.type = types.length === 1 ? only : types;
  if (shape.values !== undefined) schema.additionalProperties = toSchema(shape.values);
  else if (shape.types.has("object")) {
    const entries = [...shape.properties].map(([name, property]) => [name, toSchema(property)] as const);
    schema.properties = Object.fromEntries(entries);
    const required = [...(shape.required ?? [])].toSorted();
    if (required.length > 0) schema.required = required;
  }
  if (shape.items !== undefined) schema.items = toSchema(shape.items);
  return schema;
}

/** The inverse of {@link toSchema}. */
function fromSchema(schema: unknown, depth: number): Shape {
  const shape = emptyShape();
  if (!isObject(schema) || depth > MAX_LEARNED_DEPTH) return shape;
  const type = own(schema, "type");
  for (const name of asList(type) ?? [type]) if (typeof name === "string") shape.types.add(name);
  for (const [name, property] of asEntries(own(schema, "properties"))) {
    shape.properties.set(name, fromSchema(property, depth + 1));
  }
  const required = asList(own(schema, "required")) ?? [];
  if (shape.types.has("object"))
    shape.required = new Set(required.filter((name) => typeof name === "string"));
  const [items, values] = [own(schema, "items"), own(schema, "additionalProperties")];
  if (isObject(items)) shape.items = fromSchema(items, depth + 1);
  if (isObject(values)) shape.values = fromSchema(values, depth + 1);
  return shape;
}
