import type { ToolDefinition } from "@cem/core";

/** One exported function, as read from its source: a tool without its server and module. */
export interface FunctionFacts extends Pick<
  ToolDefinition,
  "name" | "description" | "inputSchema" | "outputSchema" | "annotations" | "callStyle"
> {
  line: number;
  /** The signature without the name: `(input: { a: number }): Promise<number>`. */
  call: string;
  /** Whether it is declared `async` or returns a Promise. */
  isAsync: boolean;
}

/** A re-exported name: `export { add as plus } from "./add.ts"`. */
export interface Reexport {
  exported: string;
  imported: string;
  specifier: string;
  line: number;
}

/** An `export * from` another module. */
export interface Star {
  specifier: string;
  line: number;
}

/** An import of a module that must exist when the file runs. */
export interface Link extends Star {
  /** The exports that are used; `*` for the whole module, none for its side effects only. */
  names: string[];
}

/** Why a file has no facts. `broken`: neither it nor a file that imports it can be imported; `unread`: they may be. */
export interface ModuleFailure {
  kind: "broken" | "unread";
  message: string;
  line?: number | undefined;
}

/** Facts about a file, read without running it. Plain data, kept in the cache file. */
export interface ModuleFacts {
  description: string;
  functions: FunctionFacts[];
  values: string[];
  hasOnlyTypes: boolean;
  reexports: Reexport[];
  stars: Star[];
  /** All imports and re-exports that are not type-only. */
  links: Link[];
  failure?: ModuleFailure | undefined;
}

export function factsWithoutCode(
  about: Pick<ModuleFacts, "failure"> & { description?: string },
): ModuleFacts {
  const nothing = { functions: [], values: [], hasOnlyTypes: false, reexports: [], stars: [], links: [] };
  return { description: "", ...nothing, ...about };
}
