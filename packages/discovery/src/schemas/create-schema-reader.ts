import type { TSNamedTupleMember, TSTupleType, TSType } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import { literalValue, type Constants } from "@cem/program";
import type { Declaration, SourceModule } from "../source/source-module.ts";
import { readIndexed, readKeys, readMapped, readTypeQuery } from "./read-derived.ts";
import { readObject } from "./read-object.ts";
import { readReference } from "./read-reference.ts";
import { arrayOf, intersectionSchema, literalSchema, unionSchema, withTypeText } from "./schema-reader.ts";
import type { ModuleLoader, SchemaReader, Scope } from "./schema-reader.ts";

/** Types nested deeper, or with more parts, than this are read as `{}`. */
const MAX_DEPTH = 32;
const MAX_TYPES = 3_000;
/** The number of types that are read for one file. Each of many functions may have a large type. */
export const MAX_TYPES_OF_FILE = 60_000;

/** Creates a reader that turns the types of one function's parameters or result into a JSON Schema, within a budget. */
export function createSchemaReader(load: ModuleLoader, budget: { left: number }) {
  const open = new Map<string, { name: string; isRecursive: boolean }>();
  const definitions = new Map<string, JsonSchema>();
  let depth = 0;
  let count = 0;

  const reader: SchemaReader = {
    schemaOf(type, scope) {
      count += 1;
      budget.left -= 1;
      if (depth >= MAX_DEPTH || count > MAX_TYPES || budget.left < 0) return {};
      depth += 1;
      try {
        return readType(reader, type, scope);
      } finally {
        depth -= 1;
      }
    },
    find: (name, module) => findDeclaration(name, module, load),
    findIn: (specifier, name, module) => findExported(specifier, name, module, load),
    valueOf: (node, module) => literalValue(node, constantsOf(module, load)),
    named(key, name, read) {
      const entry = open.get(key);
      if (entry) {
        entry.isRecursive = true;
        return { $ref: `#/$defs/${entry.name}` };
      }
      // The chain of extended interfaces may be endless.
      if (open.size >= MAX_DEPTH) return {};
      const taken = new Set([...definitions.keys(), ...[...open.values()].map((other) => other.name)]);
      let free = name;
      for (let number = 2; taken.has(free); number += 1) free = `${name}_${number}`;
      const mine = { name: free, isRecursive: false };
      open.set(key, mine);
      const schema = read();
      open.delete(key);
      if (!mine.isRecursive) return schema;
      definitions.set(mine.name, schema);
      return { $ref: `#/$defs/${mine.name}` };
    },
  };
  /** Adds the collected definitions to the root schema as `$defs`. */
  const finish = (schema: JsonSchema): JsonSchema => {
    if (definitions.size === 0) return schema;
    const root = definitions.get(String(schema["$ref"]).slice("#/$defs/".length));
    return { ...(root ?? schema), $defs: Object.fromEntries(definitions) };
  };
  return { ...reader, finish };
}

function readType(reader: SchemaReader, type: TSType, scope: Scope): JsonSchema {
  switch (type.type) {
    case "TSStringKeyword":
    case "TSTemplateLiteralType":
      return { type: "string" };
    case "TSNumberKeyword":
      return { type: "number" };
    case "TSBooleanKeyword":
      return { type: "boolean" };
    case "TSNullKeyword":
      return { type: "null" };
    case "TSObjectKeyword":
      return { type: "object" };
    case "TSBigIntKeyword":
      return withTypeText({ type: "integer" }, "bigint");
    case "TSVoidKeyword":
    case "TSUndefinedKeyword":
      return withTypeText({}, "void");
    case "TSLiteralType": {
      const value = reader.valueOf(type.literal, scope.module);
      return value === undefined ? {} : literalSchema(value);
    }
    case "TSArrayType":
      return arrayOf(reader.schemaOf(type.elementType, scope));
    case "TSTupleType":
      return tupleSchema(reader, type.elementTypes, scope);
    case "TSUnionType":
      return unionSchema(
        type.types
          .filter((member) => member.type !== "TSUndefinedKeyword" && member.type !== "TSNeverKeyword")
          .map((member) => reader.schemaOf(member, scope)),
      );
    case "TSIntersectionType":
      return intersectionSchema(type.types.map((member) => reader.schemaOf(member, scope)));
    case "TSParenthesizedType":
    case "TSOptionalType":
      return reader.schemaOf(type.typeAnnotation, scope);
    case "TSTypeLiteral":
      return readObject(reader, type.members, scope);
    case "TSTypeReference":
    case "TSImportType":
      return readReference(reader, type, scope);
    case "TSTypeOperator":
      if (type.operator === "keyof") return readKeys(reader, type.typeAnnotation, scope);
      return type.operator === "readonly" ? reader.schemaOf(type.typeAnnotation, scope) : {};
    case "TSIndexedAccessType":
      return readIndexed(reader, type, scope);
    case "TSMappedType":
      return readMapped(reader, type, scope);
    case "TSTypeQuery":
      return readTypeQuery(reader, type, scope);
    default:
      return {};
  }
}

function tupleSchema(reader: SchemaReader, elements: TSTupleType["elementTypes"], scope: Scope): JsonSchema {
  const prefixItems: JsonSchema[] = [];
  let minItems = 0;
  let rest: JsonSchema | undefined;
  for (const element of elements) {
    if (element.type === "TSRestType") {
      rest = reader.schemaOf(unlabelled(element.typeAnnotation), scope).items ?? {};
      continue;
    }
    prefixItems.push(reader.schemaOf(unlabelled(element), scope));
    const isOptional =
      element.type === "TSOptionalType" || (element.type === "TSNamedTupleMember" && element.optional);
    if (!isOptional) minItems = prefixItems.length;
  }
  const more = rest ? { items: rest } : { maxItems: prefixItems.length };
  return { type: "array", prefixItems, minItems, ...more };
}

function unlabelled(element: TSType | TSNamedTupleMember): TSType {
  return element.type === "TSNamedTupleMember" ? element.elementType : element;
}

const MAX_HOPS = 16;

function findDeclaration(name: string, module: SourceModule, load: ModuleLoader, hops = 0) {
  const local = module.declarations.get(name);
  if (local) return local;
  const origin = module.imports.get(name);
  return origin && findExported(origin.specifier, origin.imported, module, load, hops);
}

function findExported(
  specifier: string,
  name: string,
  from: SourceModule,
  load: ModuleLoader,
  hops = 0,
): Declaration | undefined {
  const module = hops >= MAX_HOPS ? undefined : loadResolved(from.file, specifier, load);
  if (!module) return undefined;
  const reexport = module.reexports.get(name);
  if (reexport) return findExported(reexport.specifier, reexport.imported, module, load, hops + 1);
  const found = findDeclaration(module.exported.get(name) ?? name, module, load, hops + 1);
  if (found) return found;
  for (const star of module.stars) {
    const behind = findExported(star, name, module, load, hops + 1);
    if (behind) return behind;
  }
  return undefined;
}

/** Loads a module by any specifier that TypeScript accepts for it: `./types.js` or `./types` for types.ts. */
function loadResolved(from: string, specifier: string, load: ModuleLoader): SourceModule | undefined {
  if (/\.m?ts$/.test(specifier)) return load(from, specifier);
  const stem = specifier.replace(/\.m?js$/, "");
  return load(from, `${stem}.ts`) ?? load(from, `${stem}.d.ts`) ?? load(from, specifier);
}

function constantsOf(module: SourceModule, load: ModuleLoader): Constants {
  return {
    find(name) {
      const found = findDeclaration(name, module, load);
      return found?.kind === "constant"
        ? { node: found.node, constants: constantsOf(found.module, load) }
        : undefined;
    },
  };
}
