import type { JsonSchema, ToolAnnotations } from "@cem/core";

/** One exported function, as read from its source: a tool without its server and module. */
export interface FunctionFacts {
  /** The name it is exported by. */
  name: string;
  /** Line of the declaration, 1-based. */
  line: number;
  /** The text of its doc comment, without tags. */
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
  /** `object`: takes one object or nothing. `positional`: takes parameters in the order of `inputSchema.properties`. */
  callStyle: "object" | "positional";
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

/** An import of a module that must exist when the file runs. */
export interface Link {
  specifier: string;
  line: number;
}

/**
 * Why a file has no facts. `broken`: neither the file nor one that imports it can be imported. `unread`: the file was
 * not read, and may be importable.
 */
export interface ModuleFailure {
  kind: "broken" | "unread";
  message: string;
  line?: number | undefined;
}

/** What is known of a file without running it. Plain data, kept in the cache file. */
export interface ModuleFacts {
  /** The text of the comment at the top. */
  description: string;
  functions: FunctionFacts[];
  /** Exported values that are not functions. */
  values: string[];
  /** Whether the file declares types only. */
  hasOnlyTypes: boolean;
  reexports: Reexport[];
  /** `export * from` statements. */
  stars: Link[];
  /** All imports and re-exports that are not type-only. */
  links: Link[];
  failure?: ModuleFailure | undefined;
}

/** The facts of a file that can't be read. */
export function failedModule(failure: ModuleFailure): ModuleFacts {
  return {
    description: "",
    functions: [],
    values: [],
    hasOnlyTypes: false,
    reexports: [],
    stars: [],
    links: [],
    failure,
  };
}
