import { commentLine } from "./safe-text.ts";
import { isKeywords, type Keywords, own, readReferences, referenceOf } from "./schema-reader.ts";
import { readKeywords, readSchema } from "./schema-type.ts";
import type { TypeContext, TypeBuilder } from "./type-builder.ts";
import type { TypeNames } from "./type-names.ts";
import { type NamedType, NEVER, referencesOf, type TypeNode, UNKNOWN } from "./type-node.ts";

/** Objects nested deeper than this become types of their own. */
const MAX_INLINE_OBJECTS = 4;
/** Reading deeper than this waits its turn, so that the call stack stays short. */
const MAX_READING_DEPTH = 60;
/** What comes after this many named types is `unknown`. */
const MAX_NAMED_TYPES = 400;
/** The same for schemas read. */
const MAX_SCHEMAS = 20_000;
const MAX_COMMENT_CHARACTERS = 240;

/** A schema document as types: the first is the whole, the others are those it names. */
export interface SchemaTypes {
  types: NamedType[];
  warnings: string[];
}

/** Reads a schema document into a type of the given name. Ends in time linear in its size, whatever it says. */
export function readSchemaTypes(root: unknown, name: string, names: TypeNames): SchemaTypes {
  const references = readReferences(root);
  const types: NamedType[] = [];
  const bySchema = new Map<unknown, NamedType>();
  const waiting: [Keywords, NamedType][] = [];
  const warnings = new Set<string>();
  let schemas = 0;

  function declare(schema: unknown, typeName: string): NamedType {
    const description =
      types.length > 0 && references.isTarget(schema) ? own(schema, "description") : undefined;
    const comment = typeof description === "string" ? commentLine(description, MAX_COMMENT_CHARACTERS) : "";
    const named: NamedType = { name: typeName, comment, consistsOf: new Set() };
    types.push(named);
    bySchema.set(schema, named);
    return named;
  }

  function read(schema: Keywords, named: NamedType, depth: number): void {
    const place = {
      owner: named,
      direct: true,
      isRoot: named === types[0],
      nesting: 0,
      depth,
      property: named.name,
    };
    named.node = readKeywords(schema, place, builder);
  }

  /** A reference, unless it would make a type consist of itself. */
  function refer(to: NamedType, { owner, direct }: TypeContext): TypeNode {
    if (!direct) return { kind: "reference", to };
    if (!owner.consistsOf.has(to) && reaches(to, owner)) return UNKNOWN;
    owner.consistsOf.add(to);
    return { kind: "reference", to };
  }

  function nameAndRefer(schema: Keywords, words: string, place: TypeContext): TypeNode {
    let named = bySchema.get(schema);
    if (named === undefined) {
      if (types.length >= MAX_NAMED_TYPES) return UNKNOWN;
      named = declare(schema, names.next(words));
      if (place.depth < MAX_READING_DEPTH) read(schema, named, place.depth + 1);
      else waiting.push([schema, named]);
    }
    return refer(named, place);
  }

  const builder: TypeBuilder = {
    read: (schema, place) => readSchema(schema, place, builder),
    named(schema, place) {
      schemas += 1;
      if (schemas > MAX_SCHEMAS) return UNKNOWN;
      const isDeep =
        place.depth >= MAX_READING_DEPTH || (place.nesting > MAX_INLINE_OBJECTS && opensObject(schema));
      const isReference = referenceOf(schema) !== undefined;
      return references.isTarget(schema) || (isDeep && !isReference)
        ? nameAndRefer(schema, place.property, place)
        : undefined;
    },
    reference(reference, place) {
      const schema = references.resolve(reference);
      if (schema === false) return NEVER;
      if (schema !== undefined && isKeywords(schema)) return nameAndRefer(schema, lastName(reference), place);
      if (schema !== true) warnings.add("A $ref points to nothing in its own document; its type is unknown.");
      return UNKNOWN;
    },
    warn: (message) => void warnings.add(message),
  };

  const whole = declare(root, name);
  if (isKeywords(root)) read(root, whole, 0);
  else whole.node = root === false ? NEVER : UNKNOWN;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) read(next[0], next[1], 0);
  return { types: types.length === 1 ? types : reachable(whole), warnings: [...warnings] };
}

function opensObject(schema: Keywords): boolean {
  return isKeywords(schema["properties"]);
}

function reaches(from: NamedType, to: NamedType): boolean {
  const seen = new Set([from]);
  for (const named of seen) {
    if (named === to) return true;
    for (const part of named.consistsOf) seen.add(part);
  }
  return false;
}

/** The types that the first one needs, itself included, in the order they are met. */
function reachable(whole: NamedType): NamedType[] {
  const found = new Set([whole]);
  for (const named of found) {
    for (const to of named.node === undefined ? [] : referencesOf(named.node)) found.add(to);
  }
  return [...found];
}

/** The last part of a pointer, for a type's name. */
function lastName(reference: string): string {
  return reference.split(/[/#]/).findLast((part) => part !== "") ?? "Type";
}
