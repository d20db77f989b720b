import type { TSType } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import type { Declaration, SourceModule } from "./source-module.ts";

/** Where a type stands: its file, and what the type parameters around it mean. */
export interface Scope {
  module: SourceModule;
  parameters: ReadonlyMap<string, TypeArgument>;
}

/** What a type parameter stands for. */
export type TypeArgument = { type: TSType; scope: Scope } | { schema: JsonSchema };

/** Gives a file that another one imports; undefined when there is none or it may not be read. */
export type ModuleLoader = (file: string) => SourceModule | undefined;

/** Turns types into schemas. Handlers of single kinds of types get this to go on with the types inside. */
export interface SchemaReader {
  schemaOf(type: TSType, scope: Scope): JsonSchema;
  /** What a name in a scope's file refers to, there or in the files it imports from. */
  find(name: string, module: SourceModule): Declaration | undefined;
  /** What another file exports by a name. */
  findIn(specifier: string, name: string, module: SourceModule): Declaration | undefined;
  /** Runs `read` for a named type, and makes it a definition if it turns out to contain itself. */
  named(key: string, name: string, read: () => JsonSchema): JsonSchema;
}

/** The type that a type parameter stands for. */
export function readArgument(reader: SchemaReader, argument: TypeArgument): JsonSchema {
  return "schema" in argument ? argument.schema : reader.schemaOf(argument.type, argument.scope);
}
