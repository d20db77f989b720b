import * as z from "zod";
import { toSnakeCase } from "./names.ts";
import { type SettingTraits, settingTraits } from "./setting.ts";

type Wrapper = z.ZodDefault<z.ZodType> | z.ZodPrefault<z.ZodType> | z.ZodOptional<z.ZodType>;

/** The kind of YAML node that a value is written as. */
export type NodeKind = "mapping" | "list" | "scalar";

/** The schema of the input, without the defaults and transformations around it. */
export function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return unwrap((schema as Wrapper).unwrap());
  }
  return schema instanceof z.ZodPipe ? unwrap(schema.in as z.ZodType) : schema;
}

/** The kind of node that a schema takes. */
export function nodeKindOf(schema: z.ZodType): NodeKind {
  if (schema instanceof z.ZodObject || schema instanceof z.ZodRecord) return "mapping";
  return schema instanceof z.ZodArray ? "list" : "scalar";
}

/** {@link unwrap}s a schema; of a union it is the option for a node of this kind. */
export function schemaFor(schema: z.ZodType, kind: NodeKind): z.ZodType {
  const inner = unwrap(schema);
  if (!(inner instanceof z.ZodUnion)) return inner;
  const options = (inner.options as z.ZodType[]).map((option) => unwrap(option));
  return options.find((option) => nodeKindOf(option) === kind) ?? inner;
}

/** The traits of a schema, or of the schema that it wraps. */
export function traitsOf(schema: z.ZodType): SettingTraits {
  const own = settingTraits.get(schema);
  if (own !== undefined) return own;
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional) {
    return traitsOf((schema as Wrapper).unwrap());
  }
  return {};
}

/** Whether a value of this schema can contain a secret at any depth. */
export function holdsSecret(schema: z.ZodType): boolean {
  if (traitsOf(schema).secret === true) return true;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject)
    return Object.values(inner.shape).some((child) => holdsSecret(child as z.ZodType));
  if (inner instanceof z.ZodArray) return holdsSecret(inner.element as z.ZodType);
  if (inner instanceof z.ZodRecord) return holdsSecret(inner.valueType as z.ZodType);
  return inner instanceof z.ZodUnion && (inner.options as z.ZodType[]).some((option) => holdsSecret(option));
}

/** The properties of an object by the names that they are written with. */
export function properties(
  object: z.ZodObject,
  style: "snake" | "camel",
): Map<string, [key: string, schema: z.ZodType]> {
  return new Map(
    Object.entries(object.shape).map(([key, schema]) => [
      style === "snake" ? toSnakeCase(key) : key,
      [key, schema as z.ZodType],
    ]),
  );
}

/** What a schema takes, in words. */
export function allowedOf(schema: z.ZodType): string {
  const { allowed } = traitsOf(schema);
  if (allowed !== undefined) return allowed;
  const inner = unwrap(schema);
  if (inner instanceof z.ZodBoolean) return "true, false";
  if (inner instanceof z.ZodEnum) return inner.options.join(", ");
  if (inner instanceof z.ZodNumber) return numberRange(inner);
  if (inner instanceof z.ZodString) return "text";
  if (inner instanceof z.ZodArray) return `a list${schemaWords(inner.element as z.ZodType)}`;
  if (inner instanceof z.ZodRecord) return "a mapping from names to values";
  if (inner instanceof z.ZodObject)
    return `a section with ${[...properties(inner, "snake").keys()].join(", ")}`;
  if (inner instanceof z.ZodUnion)
    return (inner.options as z.ZodType[]).map((option) => allowedOf(option)).join(", or ");
  return inner instanceof z.ZodCustom ? "text" : "any value";
}

function schemaWords(element: z.ZodType): string {
  return unwrap(element) instanceof z.ZodString ? " of texts" : "";
}

function numberRange(schema: z.ZodNumber): string {
  const kind = schema.isInt ? "a whole number" : "a number";
  return `${kind} from ${String(schema.minValue)} to ${String(schema.maxValue)}`;
}
