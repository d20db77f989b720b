import { inspect } from "node:util";
import { CemError, type JsonValue } from "@cem/core";
import { nearest } from "@cem/core/text";
import { fromJsonSchema, isInputRequiredResult } from "@modelcontextprotocol/server";
import type { CallToolResult, StandardSchemaV1, StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { AnyCustomTool } from "./custom-tool.ts";
import { answerValue, sessionOf, type HostOf, type ServerTool } from "./tools/server-tool.ts";

/** The server name of custom tools in rules for values. */
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
      // The client may send back tokens that it received.
      const target = { session, server: CUSTOM_TOOLS, tool: name, signal };
      const given = await (redactor?.detokenize(input as JsonValue, target) ?? input);
      const answer = await tool.handler(given, { agent, config, signal, mcp });
      return isInputRequiredResult(answer) ? answer : toCallResult(answer, outputSchema !== undefined);
    },
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

const openObject = () => ({ type: "object" });

const NO_INPUT = fromJsonSchema({ type: "object", properties: {} });

/** Presents a schema that can't provide its JSON Schema as an object of any shape. It still checks the input. */
function withJsonSchema(schema: StandardSchemaV1): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  if ("jsonSchema" in standard) return schema as StandardSchemaWithJSON;
  return { "~standard": { ...standard, jsonSchema: { input: openObject, output: openObject } } };
}

const NAME = "1 to 128 letters, digits, _, - and .";

/** The members of a custom tool. Each message says what the member has to be. */
const CUSTOM_TOOL = z.strictObject(
  {
    name: z.string(NAME).regex(/^[A-Za-z0-9._-]{1,128}$/, NAME),
    title: z.string("a string").optional(),
    description: z.string("a string"),
    inputSchema: z.custom(isStandard, 'a Standard Schema, an object with "~standard"').optional(),
    outputSchema: z
      .custom(
        (schema) => isStandard(schema) && "jsonSchema" in schema["~standard"],
        'a Standard Schema that gives its JSON Schema, an object with "~standard".jsonSchema',
      )
      .optional(),
    annotations: z.looseObject({}, "an object").optional(),
    handler: z.custom((handler) => typeof handler === "function", "a function"),
  },
  "an object",
);

/** Rejects a tool of the wrong shape, for callers without a type check. */
function assertCustomTool(tool: unknown): void {
  const issues = CUSTOM_TOOL.safeParse(tool).error?.issues ?? [];
  // A missing member may be present under a wrong name.
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) return;
  const [member = ""] = issue.code === "unrecognized_keys" ? issue.keys : issue.path.map(String);
  const { [member]: value, name } = Object(tool) as Record<string, unknown>;
  const title = typeof name === "string" ? `Custom tool ${shown(name)}` : "A custom tool";
  const details = { tool: name, member };
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(CUSTOM_TOOL.shape);
    const [near] = nearest(member, known);
    const question = near === undefined ? `Its members are ${known.join(", ")}.` : `Did you mean "${near}"?`;
    const message = `${title} has an unknown member "${member}". ${question}`;
    throw new CemError("TOOL_INVALID", message, { details: { ...details, nearest: near, known } });
  }
  const given = shown(member === "" ? tool : value);
  const message = `${title}${member && `: "${member}"`} is ${given}; it has to be ${issue.message}.`;
  throw new CemError("TOOL_INVALID", message, { details: { ...details, given, needed: issue.message } });
}

function isStandard(schema: unknown): schema is StandardSchemaV1 {
  return typeof (schema as Partial<StandardSchemaV1> | null)?.["~standard"]?.validate === "function";
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : inspect(value, { depth: -1, maxStringLength: 60 });
}
