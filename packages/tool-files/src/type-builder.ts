import type { Keywords, SchemaObject } from "./schema-reader.ts";
import type { NamedType, TypeNode } from "./type-node.ts";

/** The position at which a schema is read. */
export interface TypeContext {
  /** The named type that the schema becomes part of. */
  owner: NamedType;
  /** Whether no object, array or tuple type is between the schema and its owner. */
  direct: boolean;
  /** Whether it is the whole schema of its owner. */
  isRoot: boolean;
  /** Whether its type is intersected with another, as that of a member of `allOf` is. */
  beside?: boolean | undefined;
  /** Number of objects and arrays around it in its owner. */
  nesting: number;
  /** Number of schemas around it, as a bound on the call stack. */
  depth: number;
  /** The name of the property, from which a named type gets its name. */
  property: string;
}

/** The context of a property or an item of the schema that is read in `context`. */
export function inside(context: TypeContext, property: string): TypeContext {
  const { owner, nesting, depth } = context;
  return { owner, direct: false, isRoot: false, nesting: nesting + 1, depth: depth + 1, property };
}

/** The state of reading one schema document. */
export interface TypeBuilder {
  /** Whether it is the schema of arguments, in which a property with a default may be left out. */
  isInput: boolean;
  /** Reads a schema, whatever value it is. */
  read(schema: unknown, context: TypeContext): TypeNode;
  /** A reference to the named type of a schema. `undefined` for a schema whose type is written inline. */
  named(schema: SchemaObject, keywords: Keywords, context: TypeContext): TypeNode | undefined;
  /** Reads a `$ref`. */
  reference(reference: string, context: TypeContext): TypeNode;
  /** Adds a warning about an invalid part of the schema. */
  warn(message: string): void;
}
