import { briefComment, memberComment } from "./member-comment.ts";
import { asEntries, asList, isRecord, type Keywords, own } from "./schema-reader.ts";
import { inside, type TypeContext, type TypeBuilder } from "./type-builder.ts";
import {
  type Member,
  NEVER,
  type ObjectNode,
  textNode,
  type TypeNode,
  UNKNOWN,
  unionOf,
} from "./type-node.ts";

/** The index signature is `unknown` where it would be a union of more types than this. */
const MAX_INDEX_TYPES = 8;

/** Reads the object type of a schema. */
export function readObject(schema: Keywords, context: TypeContext, builder: TypeBuilder): ObjectNode {
  const properties = schema["properties"];
  if (properties !== undefined && !isRecord(properties)) {
    builder.warn("`properties` is not an object; it is ignored.");
  }
  const required = new Set(asList(schema["required"])?.filter((name) => typeof name === "string"));
  const given = isRecord(properties) ? properties : {};
  const members = Object.keys(given).map((name): Member => {
    const property = given[name];
    const isNeeded = required.delete(name) || own(property, "required") === true;
    const isRequired = isNeeded && !(builder.isInput && own(property, "default") !== undefined);
    const type = builder.read(property, inside(context, name));
    // Every object inherits `toString`: with an optional `toString: string` the value `{}` would not compile.
    const isInherited = !isRequired && Object.hasOwn(Object.prototype, name);
    return {
      name,
      type: isInherited ? UNKNOWN : type,
      optional: !isRequired,
      comment: memberComment(name, property),
      brief: (maxDescriptionCharacters) => briefComment(name, property, maxDescriptionCharacters),
    };
  });
  for (const name of required)
    members.push({ name, type: UNKNOWN, optional: false, comment: "", brief: () => "" });
  return { kind: "object", members, index: readIndex(schema, members, context, builder) };
}

/** The type of the index signature; `undefined` for none. */
function readIndex(
  schema: Keywords,
  members: readonly Member[],
  context: TypeContext,
  builder: TypeBuilder,
): TypeNode | undefined {
  const additional = schema["additionalProperties"];
  const patterns = asEntries(schema["patternProperties"]).map(([, pattern]) => pattern);
  const values = [...patterns, ...(isRecord(additional) || additional === true ? [additional] : [])];
  if (values.length === 0) {
    if (context.beside === true) return undefined;
    const isNamed = isRecord(schema["properties"]);
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
