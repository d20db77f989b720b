import { referredTo } from "@cem/core";
import type { JsonSchema } from "@cem/core";

/** Larger schemas take long to compile and are seldom written by people. */
const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_SCHEMA_DEPTH = 64;
/** A keyword inserted wherever a check may come many times. It ends a check that takes too long. */
export const CHECKPOINT_KEYWORD = "cem-checkpoint";

/** Keywords with a subschema for each item or property of a value. */
const REPEATED = new Set([
  "items",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
]);
/** Keywords whose values are data and no subschemas. */
const DATA = new Set(["const", "enum", "default", "examples"]);

/** The JSON Schema dialects that can be compiled. */
export type Dialect = "draft-07" | "2019-09" | "2020-12";

/** A copy of a schema that is safe to compile; or the reason why there is none. */
export type PreparedSchema =
  | { ok: true; schema: JsonSchema; dialect: Dialect }
  | { ok: false; reason: string };

/** Copies a schema into a form that is safe to compile, within bounds on its size and depth. */
export function prepareSchema(original: JsonSchema): PreparedSchema {
  let text: string;
  try {
    text = JSON.stringify(original);
  } catch {
    return { ok: false, reason: "the schema is nested too deeply" };
  }
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_SCHEMA_BYTES) {
    return { ok: false, reason: `the schema has ${bytes} bytes, more than ${MAX_SCHEMA_BYTES}` };
  }
  if (/"(?:any|one)Of":\[\]/u.test(text)) return { ok: false, reason: "an `anyOf` or `oneOf` is empty" };
  const schema = JSON.parse(text) as JsonSchema;
  if (depthOf(schema) > MAX_SCHEMA_DEPTH) {
    return { ok: false, reason: `the schema is nested deeper than ${MAX_SCHEMA_DEPTH} levels` };
  }
  const dialect = dialectOf(schema["$schema"]);
  delete schema["$schema"];
  replaceOldKeywords(schema, dialect);
  insertCheckpoints(schema);
  return { ok: true, schema, dialect };
}

/** A schema that names no known dialect is of the current one, as MCP specifies. */
function dialectOf(uri: unknown): Dialect {
  const text = typeof uri === "string" ? uri : "";
  if (/draft-0[3467]/.test(text)) return "draft-07";
  return text.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Keywords whose members are subschemas by names that are no keywords. */
const MAPS = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/**
 * Writes keywords of earlier drafts as later ones have them: `exclusiveMinimum: true` beside a `minimum`, and lists of `items`
 * where the dialect has `prefixItems`. Otherwise nothing of the schema could be checked.
 */
function replaceOldKeywords(node: JsonSchema, dialect: Dialect): void {
  for (const [exclusive, limit] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const value: unknown = node[exclusive];
    if (typeof value !== "boolean") continue;
    delete node[exclusive];
    if (!value || node[limit] === undefined) continue;
    node[exclusive] = node[limit];
    delete node[limit];
  }
  if (dialect === "2020-12" && Array.isArray(node["items"])) {
    const { items, additionalItems } = node;
    delete node["items"];
    delete node["additionalItems"];
    Object.assign(node, {
      prefixItems: items,
      ...(additionalItems !== undefined && { items: additionalItems }),
    });
  }
  for (const [key, child] of Object.entries(node)) {
    if (typeof child !== "object" || child === null || DATA.has(key)) continue;
    const schemas: unknown[] = MAPS.has(key) || Array.isArray(child) ? Object.values(child) : [child];
    for (const one of schemas)
      if (typeof one === "object" && one !== null) replaceOldKeywords(one as JsonSchema, dialect);
  }
}

/** Counts levels without recursion, which could exhaust the stack. Stops above the limit. */
function depthOf(root: object): number {
  let level: object[] = [root];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_SCHEMA_DEPTH) {
    depth += 1;
    level = level.flatMap((node) =>
      Object.values(node).filter((child): child is object => typeof child === "object" && child !== null),
    );
  }
  return depth;
}

/**
 * Adds {@link CHECKPOINT_KEYWORD} to every subschema that a reference can lead to, since with references the time of a
 * check can be exponential, and to those of items and properties, of which a value may have millions.
 */
function insertCheckpoints(root: JsonSchema): void {
  const targets = new Set<object>();
  let hasReference = false;
  const referable = new Set<object>([root]);
  const visit = (node: object): void => {
    for (const [key, child] of Object.entries(node)) {
      if (typeof child === "string") {
        if (key === "$ref" || key === "$recursiveRef" || key === "$dynamicRef") {
          hasReference = true;
          const target = referredTo(root, child);
          if (typeof target === "object" && target !== null) referable.add(target);
        }
        if (["$id", "$anchor", "$dynamicAnchor"].includes(key)) referable.add(node);
      } else if (typeof child === "object" && child !== null && !DATA.has(key)) {
        if (REPEATED.has(key)) targets.add(child as object);
        if (key === "patternProperties") for (const each of Object.values(child)) targets.add(each as object);
        visit(child as object);
      }
    }
  };
  visit(root);
  for (const target of hasReference ? [...targets, ...referable] : targets) {
    if (typeof target === "object" && !Array.isArray(target)) Reflect.set(target, CHECKPOINT_KEYWORD, true);
  }
}
