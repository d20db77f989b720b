import type { TSType } from "@babel/types";
import type { JsonSchema } from "@cem/core";
import type { Declaration, SourceModule } from "./source-module.ts";

/** The context of a type: its file and the type parameters in scope. */
export interface Scope {
  module: SourceModule;
  parameters: ReadonlyMap<string, TypeArgument>;
}

/** What a type parameter stands for. */
export type TypeArgument = { type: TSType; scope: Scope } | { schema: JsonSchema };

/** Loads the module that a file imports by a specifier; `undefined` when there is none or it must not be read. */
export type ModuleLoader = (from: string, specifier: string) => SourceModule | undefined;

/** Turns types into schemas. Passed to the readers of each kind of type, for the types inside. */
export interface SchemaReader {
  schemaOf(type: TSType, scope: Scope): JsonSchema;
  /** Finds what a name in a file refers to, there or in a file it imports from. */
  find(name: string, module: SourceModule): Declaration | undefined;
  /** Finds what another file exports by a name. */
  findIn(specifier: string, name: string, module: SourceModule): Declaration | undefined;
  /** Runs `read` for a named type, and makes the result a definition if the type contains itself. */
  named(key: string, name: string, read: () => JsonSchema): JsonSchema;
}

/** Reads the argument of a type parameter. */
export function readArgument(reader: SchemaReader, argument: TypeArgument): JsonSchema {
  return "schema" in argument ? argument.schema : reader.schemaOf(argument.type, argument.scope);
}
