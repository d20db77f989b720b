import type { Agent, JsonValue } from "@cem/core";
import type {
  CallToolResult,
  InputRequiredResult,
  ServerContext,
  StandardSchemaV1,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { assertCustomTool } from "./check-custom-tool.ts";

/** The second argument of a custom tool's handler. */
export interface CustomToolContext<Config = unknown> {
  agent: Agent;
  /** The `config` that the server was created with. */
  config: Config;
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal;
  /** The request in the protocol's terms, to report progress, to log, to ask the client something or to repeat a round. */
  mcp: ServerContext;
}

/** What a custom tool's handler answers with. */
export type CustomToolAnswer = JsonValue | CallToolResult | InputRequiredResult;

/** A tool that a server offers beside its own. */
export interface CustomTool<Input extends StandardSchemaV1 = StandardSchemaV1, Config = unknown> {
  /** 1 to 128 letters, digits, `_`, `-` and `.`; no other tool of the server has it. */
  name: string;
  title?: string | undefined;
  description: string;
  /**
   * The schema of the input, an object: Zod, or any other Standard Schema. Clients are shown its JSON Schema, or an
   * object of any shape where the schema can't give one. Default: no input.
   */
  inputSchema?: Input | undefined;
  /** The schema of the answer. With it the answer is checked and sent as structured content. */
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
 * Checks a custom tool and infers the type of its handler's input from its schema.
 *
 * @example
 * customTool({ name: "double", description: "…", inputSchema: z.object({ n: z.number() }), handler: ({ n }) => n * 2 })
 * @throws CemError `TOOL_INVALID` for a tool of the wrong shape.
 */
export function customTool<Input extends StandardSchemaV1, Config = unknown>(
  tool: CustomTool<Input, Config>,
): CustomTool<Input, Config> {
  assertCustomTool(tool);
  return tool;
}
