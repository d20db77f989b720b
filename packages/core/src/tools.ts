import { CemError, type ErrorInfo } from "./errors.ts";
import { serverNotFound, toolNotFound, type FailedTool } from "./failures.ts";
import { isObject, type JsonSchema } from "./json.ts";

/** Hints about a tool's behaviour, as MCP defines them. An absent hint means unknown, not harmless. */
export interface ToolAnnotations {
  title?: string | undefined;
  /** The tool changes nothing. */
  readOnlyHint?: boolean | undefined;
  /** The tool may delete or overwrite. */
  destructiveHint?: boolean | undefined;
  /** Repeating a call has no further effect. */
  idempotentHint?: boolean | undefined;
  /** The tool reaches systems outside its server. */
  openWorldHint?: boolean | undefined;
}

/** Reads the annotations of a definition that are valid. `undefined` when there are none. */
export function readAnnotations(value: unknown): ToolAnnotations | undefined {
  if (!isObject(value)) return undefined;
  const annotations: ToolAnnotations = {};
  if (typeof value["title"] === "string") annotations.title = value["title"];
  for (const hint of ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] as const)
    if (typeof value[hint] === "boolean") annotations[hint] = value[hint];
  return Object.keys(annotations).length === 0 ? undefined : annotations;
}

/** Whether a tool's author says that it can be called again without harm. */
export function isRepeatable({ readOnlyHint, idempotentHint }: ToolAnnotations = {}): boolean {
  return readOnlyHint === true || idempotentHint === true;
}

/**
 * Where a tool's code runs. `local` and `skill`: in the sandbox, from a file. `host`: on the host, reached through a
 * {@link ToolInvoker}. Code calls each of them the same way.
 */
export type ToolKind = "local" | "skill" | "host";

/** Text in a tool's definition that looks like an instruction to a model. A reason to look at it, not a proof. */
export interface ToolFlag {
  /** A stable name in kebab-case: `hidden-text`. */
  rule: string;
  /** Path within the definition: `description`, `inputSchema.properties.note.description`. */
  place: string;
  /** The text, with invisible characters written as `<U+200B>`. Untrusted. */
  excerpt: string;
}

/** One tool of a catalog. */
export interface ToolDefinition {
  /** The folder under `servers/`, or the folder of a skill. */
  server: string;
  /** The name of the exported function: a valid identifier. */
  name: string;
  /** The name that the tool's server uses. Absent when it is `name`. */
  originalName?: string | undefined;
  /** The name of the server in the configuration. Absent when it is `server`. */
  originalServer?: string | undefined;
  kind: ToolKind;
  /** The author's description. May be empty. Untrusted: data, never instructions. */
  description: string;
  inputSchema: JsonSchema;
  /** The schema of the result. Absent when unknown. */
  outputSchema?: JsonSchema | undefined;
  annotations?: ToolAnnotations | undefined;
  /** How arguments are passed. `object`: as one object. `positional`: one by one, in the order of the properties. */
  callStyle: "object" | "positional";
  /** The function's type in one line of TypeScript: `add(input: { a: number; b: number }): Promise<number>`. */
  signature: string;
  /** The module that code imports the tool from: `./servers/calculator/index.ts`. */
  module: string;
  /** Suspicious texts in the definition. When there are any, `description` begins with a warning. */
  flags?: readonly ToolFlag[] | undefined;
  /**
   * Why the tool can't be called now, for instance because its server is down (`SERVER_DOWN`) or its definition has
   * changed and is not accepted yet (`TOOL_CHANGED`). Absent when it can be called.
   */
  unavailable?: ErrorInfo | undefined;
  /** Whether each call waits for a person's approval. Absent: it does not, or depends on its arguments. */
  needsApproval?: true | undefined;
  /** Path on the host of the file that defines the tool, if there is one. */
  file?: string | undefined;
  /** The tools that a skill's module imports, as `server.tool`; `server.*` for all of a server. */
  uses?: readonly string[] | undefined;
}

/** A tool file that can't be used. Other tools are not affected. */
export interface ToolProblem {
  server: string;
  /** Path of the file on the host. */
  file: string;
  /** The line in the file, from 1. */
  line?: number | undefined;
  message: string;
  /** The servers that have no tools for this reason, when it affects several. */
  servers?: readonly string[] | undefined;
  /** Cause, for a specific hint on the command line and the servers: `python` for tools in Python, which is not run. */
  cause?: "python" | undefined;
}

/** A group of tools: an MCP server, a folder of tool files, or a skill. */
export interface ToolServer {
  name: string;
  description: string;
  kind: ToolKind;
  tools: ToolDefinition[];
}

/** The content of a catalog at one time. */
export interface CatalogSnapshot {
  servers: ToolServer[];
  problems: ToolProblem[];
  /** Changes whenever a definition does. */
  version: string;
}

/** Lists the tools that code may use. */
export interface ToolCatalog {
  readonly specificationVersion: "v1";
  /**
   * Lists the current tools, including changes since the last call.
   *
   * @param options - `servers`: the folders of the servers that the caller needs; it waits for no others. Default: all.
   */
  list(options?: {
    signal?: AbortSignal | undefined;
    servers?: readonly string[] | undefined;
  }): Promise<CatalogSnapshot>;
}

/** The name of a tool for people and logs: `server.name`. */
export function toolId(tool: { server: string; name: string }): string {
  return `${tool.server}.${tool.name}`;
}

/** @throws CemError `SERVER_NOT_FOUND`; with the problem, when the server exists but can't be used. */
export function findServer(
  wanted: string,
  { servers, problems }: Pick<CatalogSnapshot, "servers" | "problems">,
): ToolServer {
  const found = servers.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  const problem = problems.find(({ server }) => server === wanted);
  if (problem === undefined) throw serverNotFound(wanted, namesOf(servers));
  const message = `Server "${wanted}" can't be used. ${problem.message}`;
  throw new CemError("SERVER_NOT_FOUND", message, { details: { server: wanted } });
}

/** Finds a tool by its name in code or at its server. @throws CemError `SERVER_NOT_FOUND` or `TOOL_NOT_FOUND` */
export function findTool(
  wanted: FailedTool,
  catalog: Pick<CatalogSnapshot, "servers" | "problems">,
): ToolDefinition {
  const { tools } = findServer(wanted.server, catalog);
  const found =
    tools.find(({ name }) => name === wanted.tool) ??
    tools.find(({ originalName }) => originalName === wanted.tool);
  if (found !== undefined) return found;
  throw toolNotFound(wanted, namesOf(tools));
}

function namesOf(all: readonly { name: string }[]): string[] {
  return all.map(({ name }) => name);
}

/** A tool with its rank for a task or a query. */
export interface RankedTool {
  tool: ToolDefinition;
  /** From 0 to 1. Comparable within one answer only. */
  score: number;
  /** Why the tool ranks here, for people: `matches "weather", "san francisco"`. */
  reason: string;
  /** Whether even the best match matches by a word or two only: perhaps nothing fits. */
  isDoubtful?: true | undefined;
}

/** A task or a query, and the tools to choose from. */
export interface SelectRequest {
  task: string;
  tools: readonly ToolDefinition[];
  /** The version of the catalog of these tools, by which a selector can keep its index for later processes. */
  catalogVersion?: string | undefined;
  /**
   * The maximum number of tools to return.
   *
   * @defaultValue the selector's own
   */
  limit?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Receives from `search` what `select` returns as `notes`. */
  onNote?: ((note: string) => void) | undefined;
}

/** The tools that a selector chose. */
export interface Selection {
  /** The tools that the task needs, best first. Empty when no tool fits. */
  selected: RankedTool[];
  /** The best of the other tools, for suggestions. */
  nearest: RankedTool[];
  /** How the tools were chosen, for people: `by words only: no embedding model is set`. */
  notes?: string[] | undefined;
}

/** Picks the few tools that a task needs. */
export interface ToolSelector {
  readonly specificationVersion: "v1";
  select(request: SelectRequest): Promise<Selection>;
  /** Ranks the tools that are relevant to a query, best first; there may be none. */
  search(request: SelectRequest): Promise<RankedTool[]>;
  /** Indexes tools ahead of the first request for them. */
  prepare?(tools: readonly ToolDefinition[], catalogVersion?: string): Promise<void>;
}
