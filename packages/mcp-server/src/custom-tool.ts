import type { Agent, JsonValue } from "@cem/core";
import type {
  CallToolResult,
  StandardSchemaV1,
  StandardSchemaWithJSON,
  ToolAnnotations,
} from "@modelcontextprotocol/server";
import { answerValue } from "./server-tool.ts";
import type { ServerTool } from "./server-tool.ts";

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
  title?: string;
  description: string;
  /** Zod or any other Standard Schema of an object. One that can't tell its JSON Schema is shown as open. Default: no input. */
  inputSchema?: Input;
  /** When given, the answer is checked against it and sent as structured content. */
  outputSchema?: StandardSchemaWithJSON;
  annotations?: ToolAnnotations;
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

/** Binds a custom tool to the server it is registered at. */
export function bindCustomTool<Config>(
  tool: AnyCustomTool<Config>,
  host: { agent: Agent; config: Config },
): ServerTool {
  const { name, title, description, inputSchema = NO_INPUT, outputSchema, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: withJsonSchema(inputSchema),
    ...(outputSchema && { outputSchema }),
    ...(annotations && { annotations }),
    handle: async (input, { mcpReq: { signal } }) =>
      toCallResult(await tool.handler(input, { ...host, signal }), outputSchema !== undefined),
  };
}

function toCallResult(answer: JsonValue | CallToolResult, isStructured: boolean): CallToolResult {
  if (typeof answer === "object" && answer !== null && Array.isArray((answer as CallToolResult).content)) {
    return answer as CallToolResult;
  }
  if (isStructured) return answerValue(answer);
  const text = typeof answer === "string" ? answer : JSON.stringify(answer ?? null);
  return { content: [{ type: "text", text }] };
}

type JsonSchemaSource = StandardSchemaWithJSON["~standard"]["jsonSchema"];

const OPEN_OBJECT: JsonSchemaSource = {
  input: () => ({ type: "object" }),
  output: () => ({ type: "object" }),
};

const NO_INPUT: StandardSchemaWithJSON = {
  "~standard": {
    version: 1,
    vendor: "cem",
    validate: (value) => ({ value }),
    jsonSchema: {
      input: () => ({ type: "object", properties: {} }),
      output: () => ({ type: "object", properties: {} }),
    },
  },
};

/** A schema that can't tell its JSON Schema is shown as an object of anything, and checks all the same. */
function withJsonSchema(schema: StandardSchemaV1): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  if ("jsonSchema" in standard) return schema as StandardSchemaWithJSON;
  return { "~standard": { ...standard, jsonSchema: OPEN_OBJECT } };
}
