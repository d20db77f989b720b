import type { Agent, JsonValue } from "@cem/core";
import type {
  CallToolResult,
  StandardSchemaV1,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";

/** What a custom tool's handler is given beside its input. */
export interface CustomToolContext<Config = unknown> {
  agent: Agent;
  /** As given to the server. */
  config: Config;
  /** Aborts when the client cancels or goes away. */
  signal: AbortSignal;
}

/** A tool of your own beside ours. */
export interface CustomTool<Input extends StandardSchemaV1 = StandardSchemaV1, Config = unknown> {
  name: string;
  title?: string | undefined;
  description: string;
  /** Zod or any other Standard Schema of an object. One that can't tell its JSON Schema is shown as open. Default: no input. */
  inputSchema?: Input | undefined;
  /** When given, the answer is checked against it and sent as structured content. */
  outputSchema?: StandardSchemaWithJSON | undefined;
  annotations?: ToolAnnotations | undefined;
  /** Answers with a JSON value, or with a whole MCP result (`{ content: […] }`). What it throws becomes the answer's error. */
  handler(
    input: StandardSchemaV1.InferOutput<Input>,
    context: CustomToolContext<Config>,
  ): Promise<JsonValue | CallToolResult> | JsonValue | CallToolResult;
}

/** A custom tool whatever its input is. */
export type AnyCustomTool<Config = unknown> = CustomTool<StandardSchemaV1, Config>;

/** Keeps the type of the input for the handler: `customTool({ inputSchema: z.object({ … }), handler: ({ … }) => … })`. */
export function customTool<Input extends StandardSchemaV1, Config = unknown>(
  tool: CustomTool<Input, Config>,
): CustomTool<Input, Config> {
  return tool;
}
