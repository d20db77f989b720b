import type { JsonSchema, ToolAnnotations } from "@cem/core";

/** One exported function, as its file tells it: all of a tool but where it stands. */
export interface FunctionFacts {
  /** The name it is exported by. */
  name: string;
  /** 1-based. */
  line: number;
  description: string;
  inputSchema: JsonSchema;
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
  callStyle: "object" | "positional";
  /** The signature without the name: `(input: { a: number }): Promise<number>`. */
  call: string;
  /** Written with `async`, or returns a Promise. */
  isAsync: boolean;
}

/** A name that a file passes on: `export { add as plus } from "./add.ts"`. */
export interface Reexport {
  exported: string;
  imported: string;
  specifier: string;
  line: number;
}

/** A specifier of another module that has to be there when the file runs. */
export interface Link {
  specifier: string;
  line: number;
}

/**
 * Why a file gives nothing. `broken`: it can't be imported either, nor can any file that imports it. `unread`: it was not
 * looked at.
 */
export interface ModuleFailure {
  kind: "broken" | "unread";
  message: string;
  line?: number | undefined;
}

/** What a file tells without being run. Plain data. */
export interface ModuleFacts {
  /** From the comment at the top. */
  description: string;
  functions: FunctionFacts[];
  /** Exported values that are not functions. */
  values: string[];
  /** There is nothing in the file but types. */
  hasOnlyTypes: boolean;
  reexports: Reexport[];
  /** `export * from`. */
  stars: Link[];
  links: Link[];
  failure?: ModuleFailure | undefined;
}

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
