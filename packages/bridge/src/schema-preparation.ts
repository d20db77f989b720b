import { isNever, isObject, referredTo, type JsonSchema } from "@cem/core";

/** Larger schemas take long to compile and are rarely hand-written. */
const MAX_SCHEMA_BYTES = 256 * 1024;
const MAX_SCHEMA_DEPTH = 64;
/** Limit of object members and list items. Compiling a larger schema takes seconds. */
const MAX_SCHEMA_PARTS = 4_000;
/** A keyword inserted where a check may be executed many times. It aborts a check that takes too long. */
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
/** Keywords whose values are data, not subschemas. */
const DATA = new Set(["const", "enum", "default", "examples"]);

export type Dialect = "draft-07" | "2019-09" | "2020-12";

/** A copy of a schema that is safe to compile, with the parts that were left out, or the reason why there is none. */
export type PreparedSchema =
  | { ok: true; schema: JsonSchema; dialect: Dialect; unusable: string[] }
  | { ok: false; reason: string };

/** Copies a schema into a form that is safe to compile, without patterns for which `compilePattern` throws. */
export function prepareSchema(
  original: JsonSchema,
  compilePattern: (pattern: string) => unknown = () => {},
): PreparedSchema {
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
  if (countParts(schema) > MAX_SCHEMA_PARTS)
    return { ok: false, reason: `the schema has more than ${MAX_SCHEMA_PARTS} members` };
  const dialect = dialectOf(schema["$schema"]);
  delete schema["$schema"];
  const unusable: string[] = [];
  replaceOldKeywords(schema, { dialect, compilePattern, unusable });
  insertCheckpoints(schema);
  return { ok: true, schema, dialect, unusable };
}

/** A schema without a known dialect uses the current one, as MCP specifies. */
function dialectOf(uri: unknown): Dialect {
  const text = typeof uri === "string" ? uri : "";
  if (/draft-0[3467]/.test(text)) return "draft-07";
  return text.includes("2019-09") ? "2019-09" : "2020-12";
}

/** Keywords that map arbitrary names to subschemas. */
const MAPS = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
]);

type Context = { dialect: Dialect; compilePattern: (pattern: string) => unknown; unusable: string[] };

const TYPES = new Set(["string", "number", "integer", "boolean", "null", "object", "array"]);
/** Keywords beside which `nullable` adds a value that they exclude. */
const EXCLUDING_NULL = ["$ref", "allOf", "anyOf", "oneOf", "not"];

/** Removes and reports the parts for which the validator would reject the whole schema. */
function removeUnusable(node: JsonSchema, { compilePattern, unusable }: Context): void {
  const { type, enum: choices, required, pattern, id } = node;
  const types = [type ?? []].flat();
  if (!types.every((one) => TYPES.has(one))) {
    if (!types.includes("any")) unusable.push(`the type ${JSON.stringify(type)}`);
    delete node.type;
  }
  if (choices?.length === 0) delete node.enum;
  if (Array.isArray(required)) node.required = required.filter((name) => typeof name === "string");
  else delete node.required;
  if (typeof id === "string") delete node["id"];
  try {
    if (typeof pattern === "string") compilePattern(pattern);
  } catch {
    unusable.push(`the pattern ${String(pattern)}`);
    delete node["pattern"];
  }
}

/** Converts OpenAPI's `nullable: true` to JSON Schema. */
function replaceNullable(node: JsonSchema): void {
  const { nullable, $defs: _, definitions: __, ...own } = node;
  delete node["nullable"];
  if (nullable !== true) return;
  if (EXCLUDING_NULL.some((keyword) => keyword in own)) {
    for (const key of Object.keys(own)) delete node[key];
    node.anyOf = [own, { type: "null" }];
    return;
  }
  if (node.type !== undefined) node.type = [...new Set([node.type, "null"].flat())];
  if (Array.isArray(node.enum)) node.enum = [...node.enum, null];
}

/** Converts keywords of earlier drafts, such as `exclusiveMinimum: true`. Else the whole schema could not be used. */
function replaceOldKeywords(node: JsonSchema, context: Context): void {
  removeUnusable(node, context);
  replaceNullable(node);
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
  if (context.dialect === "2020-12" && Array.isArray(node["items"])) {
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
    const [holder, names] =
      MAPS.has(key) || Array.isArray(child) ? [child, Object.keys(child)] : [node, [key]];
    for (const name of names) {
      const one: unknown = Reflect.get(holder, name);
      if (isNever(one)) Reflect.set(holder, name, false);
      else if (isObject(one)) replaceOldKeywords(one, context);
    }
  }
}

/** Counts levels without recursion, which could exhaust the stack. Stops above the limit. */
function depthOf(root: object): number {
  let level: object[] = [root];
  let depth = 0;
  while (level.length > 0 && depth <= MAX_SCHEMA_DEPTH) {
    depth += 1;
    level = level.flatMap((node) => Object.values(node).filter(isParent));
  }
  return depth;
}

/** Counts the possible parts of a schema. An `enum` may have many values, which are cheap. */
function countParts(node: object, isMap = false): number {
  let parts = 0;
  for (const [key, child] of Object.entries(node)) {
    parts += 1;
    if (!isParent(child)) continue;
    // The check of dependent names is one expression, which takes quadratic time to compile.
    if (isMap && Array.isArray(child)) parts += child.length ** 2 / 250;
    const areValues = key === "enum" && !isMap && Array.isArray(child) && !child.some(isParent);
    if (!areValues) parts += countParts(child, !isMap && MAPS.has(key));
  }
  return parts;
}

function isParent(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

/**
 * Adds {@link CHECKPOINT_KEYWORD} to the subschemas of references, which can make the time of a check exponential, and lead
 * into data with more of them; and to those of items and properties, of which a value may have millions.
 */
function insertCheckpoints(root: JsonSchema): void {
  const targets = new Set<object>();
  let hasReference = false;
  const referable = new Set<object>([root]);
  /** `data`: the keyword whose data the node is in, if it is. */
  const visit = (node: object, isMap: boolean, data: string): void => {
    for (const [key, child] of Object.entries(node)) {
      if (typeof child === "string") {
        if (key === "$ref" || key === "$recursiveRef" || key === "$dynamicRef") {
          hasReference = true;
          const target = referredTo(root, child);
          if (isParent(target)) referable.add(target);
        }
        const isNamed = ["$id", "$anchor", "$dynamicAnchor"].includes(key);
        if (isNamed && data !== "const" && data !== "enum") referable.add(node);
      } else if (isParent(child)) {
        const within = data === "" && !isMap && DATA.has(key) ? key : data;
        if (within === "" && REPEATED.has(key)) targets.add(child);
        if (within === "" && key === "patternProperties")
          for (const each of Object.values(child)) targets.add(each as object);
        visit(child, !isMap && MAPS.has(key), within);
      }
    }
  };
  visit(root, false, "");
  for (const target of hasReference ? [...targets, ...referable] : targets) {
    if (isObject(target)) Reflect.set(target, CHECKPOINT_KEYWORD, true);
  }
}
