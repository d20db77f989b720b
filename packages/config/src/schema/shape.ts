import * as z from "zod/mini";
import { settingTraits, type SettingTraits } from "./setting.ts";

/** `sandboxType` → `sandbox_type`. */
export function toSnakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The kind of YAML node that a value is written as. */
export type NodeKind = "mapping" | "list" | "scalar";

function wrapped(schema: z.ZodMiniType): z.ZodMiniType | undefined {
  const isWrapper =
    schema instanceof z.ZodMiniDefault ||
    schema instanceof z.ZodMiniPrefault ||
    schema instanceof z.ZodMiniOptional;
  return isWrapper ? (schema.def.innerType as z.ZodMiniType) : undefined;
}

/** The schema of the input, without the defaults and transformations around it. */
export function unwrap(schema: z.ZodMiniType): z.ZodMiniType {
  const inner = schema instanceof z.ZodMiniPipe ? (schema.def.in as z.ZodMiniType) : wrapped(schema);
  return inner === undefined ? schema : unwrap(inner);
}

export function itemOf({ def }: z.ZodMiniArray): z.ZodMiniType {
  return def.element as z.ZodMiniType;
}

export function valueOf({ def }: z.ZodMiniRecord): z.ZodMiniType {
  return def.valueType as z.ZodMiniType;
}

export function optionsOf({ def }: z.ZodMiniUnion): z.ZodMiniType[] {
  return [...def.options] as z.ZodMiniType[];
}

function childrenOf({ shape }: z.ZodMiniObject): [key: string, schema: z.ZodMiniType][] {
  return Object.entries(shape) as [string, z.ZodMiniType][];
}

export function nodeKindOf(schema: z.ZodMiniType): NodeKind {
  if (schema instanceof z.ZodMiniObject || schema instanceof z.ZodMiniRecord) return "mapping";
  return schema instanceof z.ZodMiniArray ? "list" : "scalar";
}

/** The schema of a member of a value of this schema; `undefined` for one without members. */
export function memberOf(schema: z.ZodMiniType, key: PropertyKey): z.ZodMiniType | undefined {
  if (schema instanceof z.ZodMiniObject) return schema.shape[String(key)] as z.ZodMiniType;
  if (schema instanceof z.ZodMiniArray) return itemOf(schema);
  return schema instanceof z.ZodMiniRecord ? valueOf(schema) : undefined;
}

/** {@link unwrap}s a schema; for a union, returns the option for a node of this kind. */
export function schemaFor(schema: z.ZodMiniType, kind: NodeKind): z.ZodMiniType {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodMiniUnion)) return inner;
  const options = optionsOf(inner).map((option) => unwrap(option));
  return options.find((option) => nodeKindOf(option) === kind) ?? inner;
}

/** The traits of a schema, or of the schema that it wraps. */
export function traitsOf(schema: z.ZodMiniType): SettingTraits {
  const own = settingTraits.get(schema);
  if (own !== undefined) return own;
  const inner = wrapped(schema);
  return inner === undefined ? {} : traitsOf(inner);
}

/** Whether a text that this schema accepts is a path on the host. */
export function isPath(schema: z.ZodMiniType, value: string): boolean {
  const { path = false } = traitsOf(schema);
  return typeof path === "function" ? path(value) : path;
}

/** Whether a value of this schema can contain a secret at any depth. All custom schemas are secrets. */
export function holdsSecret(schema: z.ZodMiniType): boolean {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodMiniCustom) return true;
  if (inner instanceof z.ZodMiniObject) return childrenOf(inner).some(([, child]) => holdsSecret(child));
  if (inner instanceof z.ZodMiniArray) return holdsSecret(itemOf(inner));
  if (inner instanceof z.ZodMiniRecord) return holdsSecret(valueOf(inner));
  return inner instanceof z.ZodMiniUnion && optionsOf(inner).some((option) => holdsSecret(option));
}

/** The properties of an object by their names as written. */
export function properties(
  object: z.ZodMiniObject,
  style: "snake" | "camel",
): Map<string, [key: string, schema: z.ZodMiniType]> {
  return new Map(
    childrenOf(object).map(([key, schema]) => [style === "snake" ? toSnakeCase(key) : key, [key, schema]]),
  );
}

/** Describes in words which values a schema accepts. */
export function allowedOf(schema: z.ZodMiniType): string {
  const inner = unwrap(schema);
  const { allowed = traitsOf(inner).allowed } = traitsOf(schema);
  if (allowed !== undefined) return allowed;
  if (inner instanceof z.ZodMiniBoolean) return "true, false";
  if (inner instanceof z.ZodMiniEnum) return inner.options.join(", ");
  if (inner instanceof z.ZodMiniString) return "text";
  if (inner instanceof z.ZodMiniArray)
    return unwrap(itemOf(inner)) instanceof z.ZodMiniString ? "a list of texts" : "a list";
  if (inner instanceof z.ZodMiniRecord) return "a mapping from names to values";
  if (inner instanceof z.ZodMiniObject)
    return `a section with ${[...properties(inner, "snake").keys()].join(", ")}`;
  if (inner instanceof z.ZodMiniUnion)
    return optionsOf(inner)
      .map((option) => allowedOf(option))
      .join(", or ");
  return inner instanceof z.ZodMiniCustom ? "text" : "any value";
}
