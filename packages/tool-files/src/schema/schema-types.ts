import { isObject } from "@cem/core";
import { commentLine } from "../safe-text.ts";
import { toIdentifier } from "../tool-names.ts";
import { keywordsOf, own, readReferences, referenceOf, type SchemaObject } from "./keywords.ts";
import { readKeywords, readSchema, type TypeBuilder, type TypeContext } from "./read-schema.ts";
import { NEVER, referencesOf, textNode, type NamedType, type TypeNode, UNKNOWN } from "./type-node.ts";

/** Objects nested deeper than this become named types. */
const MAX_INLINE_OBJECTS = 4;
/** Schemas nested deeper than this are queued, to bound the call stack. */
const MAX_READING_DEPTH = 60;
/** Further named types are `unknown`. */
const MAX_NAMED_TYPES = 400;
const MAX_SCHEMAS = 20_000;
const MAX_COMMENT_CHARACTERS = 240;

interface ReadingSettings {
  names: TypeNames;
  /** Whether it is the schema of arguments, in which properties with a default are optional. */
  isInput: boolean;
  /** The type of a schema that can't express it, such as `Date`. */
  textOf?: (schema: SchemaObject) => string | undefined;
}

export interface SchemaTypes {
  /** The type of the whole document, followed by the named types it refers to. */
  types: [whole: NamedType, ...others: NamedType[]];
  /** Invalid parts of the schema, each of which is read as `unknown`. */
  warnings: string[];
}

/** Reads a schema document into types, the whole with this name, in time linear in its size. */
export function readSchemaTypes(
  root: unknown,
  name: string,
  { names, isInput, textOf }: ReadingSettings,
): SchemaTypes {
  const references = readReferences(root);
  const types: NamedType[] = [];
  const bySchema = new Map<unknown, NamedType>();
  const waiting: [SchemaObject, NamedType][] = [];
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

  function read(schema: SchemaObject, named: NamedType, depth: number): void {
    const place = { direct: true, isRoot: named === types[0], nesting: 0, depth };
    named.node = readKeywords(keywordsOf(schema), { owner: named, property: named.name, ...place }, builder);
  }

  /** A reference, unless it would make a type consist of itself. */
  function refer(to: NamedType, { owner, direct }: TypeContext): TypeNode {
    if (!direct) return { kind: "reference", to };
    if (!owner.consistsOf.has(to) && reaches(to, owner)) return UNKNOWN;
    owner.consistsOf.add(to);
    return { kind: "reference", to };
  }

  function nameAndRefer(schema: SchemaObject, words: string, context: TypeContext): TypeNode {
    let named = bySchema.get(schema);
    if (named === undefined) {
      if (types.length >= MAX_NAMED_TYPES) return UNKNOWN;
      named = declare(schema, names(words));
      if (context.depth < MAX_READING_DEPTH) read(schema, named, context.depth + 1);
      else waiting.push([schema, named]);
    }
    return refer(named, context);
  }

  const builder: TypeBuilder = {
    isInput,
    read: (schema, context) => readSchema(schema, context, builder),
    named(schema, keywords, context) {
      schemas += 1;
      if (schemas > MAX_SCHEMAS) return UNKNOWN;
      const text = textOf?.(schema);
      if (text !== undefined) return textNode(text);
      const { depth, nesting } = context;
      const opensObject = nesting > MAX_INLINE_OBJECTS && isObject(keywords["properties"]);
      const isDeep = opensObject || depth >= MAX_READING_DEPTH;
      const isNamed = references.isTarget(schema) || (isDeep && referenceOf(keywords) === undefined);
      return isNamed ? nameAndRefer(schema, context.property, context) : undefined;
    },
    reference(reference, context) {
      const schema = references.resolve(reference);
      if (schema === false) return NEVER;
      // The last segment names the type.
      const name = reference.split(/[/#]/).findLast((part) => part !== "") ?? "Type";
      if (schema !== undefined && isObject(schema)) return nameAndRefer(schema, name, context);
      if (schema !== true) warnings.add("A `$ref` points to nothing in its document; its type is unknown.");
      return UNKNOWN;
    },
    warn: (message) => void warnings.add(message),
  };

  const whole = declare(root, name);
  if (isObject(root)) read(root, whole, 0);
  else whole.node = root === false ? NEVER : UNKNOWN;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) read(next[0], next[1], 0);
  return { types: [whole, ...reachable(whole)], warnings: [...warnings] };
}

function reaches(from: NamedType, to: NamedType): boolean {
  const seen = new Set([from]);
  for (const named of seen) {
    if (named === to) return true;
    for (const part of named.consistsOf) seen.add(part);
  }
  return false;
}

/** The types that the first one refers to, directly or through others, in the order of reference. */
function reachable(whole: NamedType): NamedType[] {
  const found = new Set([whole]);
  for (const named of found) {
    for (const to of named.node === undefined ? [] : referencesOf(named.node)) found.add(to);
  }
  return [...found].slice(1);
}

const MAX_TYPE_NAME_CHARACTERS = 40;

/** Global types that a declaration must not shadow. */
const GLOBAL_TYPES = new Set(
  "Array Boolean Function Number Object Promise Record RegExp String Symbol BigInt Date Error Map Set".split(
    " ",
  ),
);

/** Gives the types of a module unique names: `GetWeatherInput` for `get_weather input`, then `GetWeatherInput2`. */
export type TypeNames = (words: string) => string;

export function createTypeNames(): TypeNames {
  const counts = new Map<string, number>();
  const taken = new Set<string>();
  return (words) => {
    const pascal = pascalCase(words);
    const base = GLOBAL_TYPES.has(pascal) ? `${pascal}Type` : pascal;
    let number = counts.get(base) ?? 1;
    let name = number === 1 ? base : `${base}${number}`;
    for (; taken.has(name); name = `${base}${number}`) number += 1;
    counts.set(base, number + 1);
    taken.add(name);
    return name;
  };
}

function pascalCase(words: string): string {
  const isPlain = /^[\w ]{1,100}$/.test(words);
  const parts = isPlain
    ? words.replaceAll(" ", "_").split("_")
    : words.slice(0, 200).split(/[^\p{ID_Continue}]+|_+/u);
  let joined = "";
  for (const part of parts) joined += part.charAt(0).toUpperCase() + part.slice(1);
  const short = joined.slice(0, MAX_TYPE_NAME_CHARACTERS);
  if (/^[A-Z]\w*$/.test(short)) return short;
  const wellFormed = short.toWellFormed();
  const name = toIdentifier(/^\p{ID_Start}/u.test(wellFormed) ? wellFormed : `Type${wellFormed}`);
  return /^[A-Z\P{ASCII}]/u.test(name) ? name : `Type_${name}`;
}
