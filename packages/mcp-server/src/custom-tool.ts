import path from "node:path";
import { pathToFileURL } from "node:url";
import { CemError, whyNotLoaded, type Agent, type JsonValue } from "@cem/core";
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  StandardSchemaV1,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";

/** The second argument of a custom tool's handler. */
export interface CustomToolContext<Config = unknown> {
  agent: Agent;
  /** The `config` that the server was created with. */
  config: Config;
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal;
  /** The SDK's context of the request, to report progress, to log, to ask the client or to continue a multi-round request. */
  mcp: ServerContext;
}

/** The answer of a custom tool's handler. */
export type CustomToolAnswer = JsonValue | CallToolResult | InputRequiredResult;

/** A tool that a server offers in addition to its own. */
export interface CustomTool<Input extends StandardSchemaV1 = StandardSchemaV1, Config = unknown> {
  /** 1 to 128 letters, digits, `_`, `-` and `.`; unique in the server. */
  name: string;
  title?: string | undefined;
  description: string;
  /**
   * The schema of the input, an object: Zod, or any other Standard Schema. Clients see its JSON Schema, or an object of any
   * shape if the schema can't provide one. Default: no input.
   */
  inputSchema?: Input | undefined;
  /** The schema of the answer. If set, the answer is checked and sent as structured content. */
  outputSchema?: StandardSchemaWithJSON | undefined;
  annotations?: ToolAnnotations | undefined;
  /**
   * Answers with a JSON value, with a complete MCP result (`{ content: […] }`), or with what `inputRequired` of the SDK
   * returns (protocol 2026-07-28). An exception is answered as an error.
   */
  handler(
    input: StandardSchemaV1.InferOutput<Input>,
    context: CustomToolContext<Config>,
  ): Promise<CustomToolAnswer> | CustomToolAnswer;
}

/** A custom tool with any input. */
export type AnyCustomTool<Config = unknown> = CustomTool<StandardSchemaV1, Config>;

/**
 * Infers the type of a handler's input from its tool's schema. The server checks the tool when it is added.
 *
 * @example
 * customTool({ name: "double", description: "…", inputSchema: z.object({ n: z.number() }), handler: ({ n }) => n * 2 })
 */
export function customTool<Input extends StandardSchemaV1, Config = unknown>(
  tool: CustomTool<Input, Config>,
): CustomTool<Input, Config> {
  return tool;
}

/**
 * Loads custom tools from a JavaScript or TypeScript module, which runs on the host. Its default export is a tool or a
 * list of tools, of the shape that `customTools` of `createServer` takes.
 *
 * @throws CemError `TOOL_INVALID` for a module that can't be loaded or exports no tool.
 */
export async function loadCustomTools<Config>(file: string, cwd = "."): Promise<AnyCustomTool<Config>[]> {
  const details = { file };
  const { href } = pathToFileURL(path.resolve(cwd, file));
  const { default: found } = (await import(href).catch((cause: unknown): never => {
    const message = `${file} can't be loaded: ${whyNotLoaded(cause)}`;
    throw new CemError("TOOL_INVALID", message, { details, cause });
  })) as { default?: unknown };
  // Each is checked when it is added to the server.
  if (typeof found === "object" && found !== null)
    return (Array.isArray(found) ? found : [found]) as AnyCustomTool<Config>[];
  const message = `${file} has no custom tools. Write: export default [{ name, description, inputSchema, handler }]`;
  throw new CemError("TOOL_INVALID", message, { details });
}
