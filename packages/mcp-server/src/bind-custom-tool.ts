import type { JsonValue } from "@cem/core";
import type {
  CallToolResult,
  InputRequiredResult,
  StandardSchemaV1,
  StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { assertCustomTool } from "./custom-tool.ts";
import type { AnyCustomTool, CustomToolAnswer } from "./custom-tool.ts";
import { answerValue, sessionOf } from "./tools/server-tool.ts";
import type { HostOf, ServerTool } from "./tools/server-tool.ts";

/** The server by which rules for values name custom tools. */
const CUSTOM_TOOLS = "custom";

/** Binds a custom tool to the agent and the configuration of a server. @throws CemError `TOOL_INVALID` */
export function bindCustomTool<Config>(
  tool: AnyCustomTool<Config>,
  { hostOf, config }: { hostOf: HostOf; config: Config },
): ServerTool {
  assertCustomTool(tool);
  const { name, title, description, inputSchema = NO_INPUT, outputSchema, annotations } = tool;
  return {
    name,
    title,
    description,
    inputSchema: withJsonSchema(inputSchema),
    outputSchema,
    annotations,
    handle: async (input, mcp) => {
      const { agent, redactor } = await hostOf(mcp);
      const { signal } = mcp.mcpReq;
      const { session } = sessionOf(mcp);
      // The client may hand back what it got as tokens.
      const target = { session, server: CUSTOM_TOOLS, tool: name, signal };
      const given = await (redactor?.detokenize(input as JsonValue, target) ?? input);
      const answer = await tool.handler(given, { agent, config, signal, mcp });
      return isInputRequired(answer) ? answer : toCallResult(answer, outputSchema !== undefined);
    },
  };
}

function isInputRequired(answer: CustomToolAnswer): answer is InputRequiredResult {
  return (answer as { resultType?: unknown } | null)?.resultType === "input_required";
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

/** Shows a schema that can't give its JSON Schema as an object of any shape. It checks the input all the same. */
function withJsonSchema(schema: StandardSchemaV1): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  if ("jsonSchema" in standard) return schema as StandardSchemaWithJSON;
  return { "~standard": { ...standard, jsonSchema: OPEN_OBJECT } };
}
