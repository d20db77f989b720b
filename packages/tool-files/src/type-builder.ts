import type { Keywords } from "./schema-reader.ts";
import type { NamedType, TypeNode } from "./type-node.ts";

/** Where in a document a schema is read. */
export interface TypeContext {
  /** The named type it becomes part of. */
  owner: NamedType;
  /** Whether nothing (object, array, tuple) stands between it and its owner. */
  direct: boolean;
  /** Whether it is its owner's whole schema. */
  isRoot: boolean;
  /** Whether it only adds to a type that stands beside it, as a member of `allOf` or `anyOf` does. */
  beside?: boolean | undefined;
  /** Objects and arrays around it in its owner. */
  nesting: number;
  /** Everything around it, in calls. */
  depth: number;
  /** The property it is the type of; names the type if it gets a name. */
  property: string;
}

/** The place of a property or an item of what is at `place`. */
export function inside(place: TypeContext, property: string): TypeContext {
  const { owner, nesting, depth } = place;
  return { owner, direct: false, isRoot: false, nesting: nesting + 1, depth: depth + 1, property };
}

/** What reading one schema document needs and gathers. */
export interface TypeBuilder {
  /** The type of whatever stands where a schema is expected. */
  read(schema: unknown, place: TypeContext): TypeNode;
  /** A reference to a type of its own, for a schema that needs or has one. */
  named(schema: Keywords, place: TypeContext): TypeNode | undefined;
  reference(reference: string, place: TypeContext): TypeNode;
  warn(message: string): void;
}
