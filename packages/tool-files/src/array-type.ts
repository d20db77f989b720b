import { asList, type Keywords } from "./schema-reader.ts";
import { inside, type TypeContext, type TypeBuilder } from "./type-builder.ts";
import { type TypeNode, UNKNOWN, unionOf } from "./type-node.ts";

/** A longer tuple is written as an array. */
const MAX_TUPLE_ITEMS = 32;

/** Reads the array or tuple type of a schema. The length of an array without tuple items is not expressed. */
export function readArray(schema: Keywords, context: TypeContext, builder: TypeBuilder): TypeNode {
  const items = schema["items"];
  const first = asList(schema["prefixItems"]) ?? asList(items) ?? [];
  const read = (part: unknown): TypeNode => builder.read(part, inside(context, "item"));
  if (first.length === 0) {
    return { kind: "array", item: items === undefined || Array.isArray(items) ? UNKNOWN : read(items) };
  }
  const further = Array.isArray(items) || items === undefined ? schema["additionalItems"] : items;
  const rest = further === undefined || further === false ? undefined : read(further);
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
