import { memberComment } from "./member-comment.ts";
import { asEntries, asList, isKeywords, type Keywords, own } from "./schema-reader.ts";
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

/** Past this many different ones, the types of named properties are not repeated for the unnamed. */
const MAX_INDEX_TYPES = 8;

/** The object a schema describes. */
export function readObject(schema: Keywords, place: TypeContext, builder: TypeBuilder): ObjectNode {
  const properties = own(schema, "properties");
  if (properties !== undefined && !isKeywords(properties)) {
    builder.warn("`properties` is not an object; it is ignored.");
  }
  const required = new Set(asList(own(schema, "required"))?.filter((name) => typeof name === "string"));
  const members = asEntries(properties).map(([name, property]): Member => {
    const isRequired = required.delete(name) || own(property, "required") === true;
    const type = builder.read(property, inside(place, name));
    // Every object has a `toString` already: as an optional text it would make `{}` a wrong value.
    const isInherited = !isRequired && Object.hasOwn(Object.prototype, name);
    return {
      name,
      type: isInherited ? UNKNOWN : type,
      optional: !isRequired,
      comment: memberComment(name, property),
    };
  });
  for (const name of required) members.push({ name, type: UNKNOWN, optional: false, comment: "" });
  return { kind: "object", members, index: readIndex(schema, members, place, builder) };
}

/** The type of properties that have no name in the schema; `undefined` when there are none to speak of. */
function readIndex(
  schema: Keywords,
  members: readonly Member[],
  place: TypeContext,
  builder: TypeBuilder,
): TypeNode | undefined {
  const additional = own(schema, "additionalProperties");
  const patterns = asEntries(own(schema, "patternProperties")).map(([, pattern]) => pattern);
  const values = [...patterns, ...(isKeywords(additional) || additional === true ? [additional] : [])];
  if (values.length === 0) {
    if (place.beside === true) return undefined;
    const isNamed = isKeywords(own(schema, "properties"));
    if (members.length > 0) return isNamed ? undefined : UNKNOWN;
    return additional === false || (place.isRoot && isNamed) ? NEVER : UNKNOWN;
  }
  const type = unionOf(values.map((value) => builder.read(value, inside(place, "value"))));
  return fittingIndex(type, members);
}

/** TypeScript wants the index to cover every named property too. */
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
