import type { ErrorInfo } from "./errors.ts";
import type { JsonSchema } from "./json.ts";

/** Hints about what a tool does, in MCP's terms. Absent means unknown, not harmless. */
export interface ToolAnnotations {
  title?: string | undefined;
  readOnlyHint?: boolean | undefined;
  destructiveHint?: boolean | undefined;
  idempotentHint?: boolean | undefined;
  openWorldHint?: boolean | undefined;
}

/**
 * Where a tool's code runs: `local` and `skill` inside the guest, from a file; `host` behind the bridge.
 * Code that uses a tool can't tell the difference.
 */
export type ToolKind = "local" | "skill" | "host";

/** Something in a tool's definition that seems meant as an order to a model. A reason to look, not a proof. */
export interface ToolFlag {
  /** Stable, kebab-case: `hidden-text`. */
  rule: string;
  /** Where in the definition: `description`, `inputSchema.properties.note.description`. */
  place: string;
  /** The text in question, with characters that can't be seen written as `<U+200B>`. Untrusted. */
  excerpt: string;
}

/** One tool as everybody after discovery sees it. */
export interface ToolDefinition {
  /** The folder under `servers/`, or the skill's folder name. */
  server: string;
  /** The exported function's name: a valid identifier. */
  name: string;
  /** The name its server calls it by, where that is not `name`. */
  originalName?: string | undefined;
  kind: ToolKind;
  /** What it does, as written by its author. Untrusted text: data, never instructions. May be empty. */
  description: string;
  inputSchema: JsonSchema;
  /** Schema of what it resolves to. Absent when unknown. */
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
  /** `object`: one object with the schema's properties. `positional`: the properties in order, one argument each. */
  callStyle: "object" | "positional";
  /** The call as TypeScript, in one line: `add(input: { a: number; b: number }): Promise<number>`. */
  signature: string;
  /** What guest code imports it from: `./servers/calculator/index.ts`, `./skills/double_number/index.ts`. */
  module: string;
  /** Why a person should look at its definition before a model does. The description begins with a mark then. */
  flags?: readonly ToolFlag[] | undefined;
  /**
   * Why the tool can't be called now: its server is down, say (`SERVER_DOWN`), or its definition changed and is not
   * accepted yet (`TOOL_CHANGED`). Absent: it can be called.
   */
  unavailable?: ErrorInfo | undefined;
  /** The file it was read from, on the host. Absent for tools that have none. */
  file?: string | undefined;
}

/** A file that should have been a tool and is not usable. The other tools are unaffected. */
export interface ToolProblem {
  server: string;
  file: string;
  line?: number | undefined;
  message: string;
}

export interface ToolServer {
  name: string;
  description: string;
  kind: ToolKind;
  tools: ToolDefinition[];
}

export interface CatalogSnapshot {
  servers: ToolServer[];
  problems: ToolProblem[];
  /** Changes when any definition does. */
  version: string;
}

/** Every tool there is. */
export interface ToolCatalog {
  readonly specificationVersion: "v1";
  /** Reads what is there now; a file changed since the last call is seen. */
  list(options?: { signal?: AbortSignal | undefined }): Promise<CatalogSnapshot>;
}

/** `server.name`, the way people and logs name a tool. */
export function toolId(tool: { server: string; name: string }): string {
  return `${tool.server}.${tool.name}`;
}
