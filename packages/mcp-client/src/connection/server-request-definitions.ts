import type { JsonObject } from "@cem/core";

/**
 * Reserved tool names by which code lists and reads a server's resources and prompts through a ToolInvoker. A tool
 * of a server that has such a name is left out.
 */
export const SERVER_REQUESTS = {
  listResources: "mcp:resources/list",
  listResourceTemplates: "mcp:resources/templates/list",
  readResource: "mcp:resources/read",
  listPrompts: "mcp:prompts/list",
  getPrompt: "mcp:prompts/get",
} as const;

const RESERVED_PREFIX = "mcp:";

/** Whether a tool name is reserved for requests about resources and prompts. */
export function isServerRequest(tool: string): boolean {
  return tool.startsWith(RESERVED_PREFIX);
}

const TEXT = { type: "string" } as const;
const NO_INPUT = { type: "object", properties: {}, additionalProperties: false } as const;
const READ_ONLY = { readOnlyHint: true } as const;

const described = { name: TEXT, title: TEXT, description: TEXT } as const;

const RESOURCES: readonly JsonObject[] = [
  definition(
    SERVER_REQUESTS.listResources,
    "Lists this server's MCP resources: documents, files or data by URI.",
    {
      outputSchema: listOf("resources", { uri: TEXT, ...described, mimeType: TEXT }, ["uri", "name"]),
    },
  ),
  definition(
    SERVER_REQUESTS.listResourceTemplates,
    "Lists this server's MCP resource templates: patterns of URIs to fill in and read.",
    {
      outputSchema: listOf("resourceTemplates", { uriTemplate: TEXT, ...described, mimeType: TEXT }, [
        "uriTemplate",
        "name",
      ]),
    },
  ),
  definition(
    SERVER_REQUESTS.readResource,
    "Reads an MCP resource of this server by its URI: text, or the path of a file with its bytes.",
    {
      inputSchema: { type: "object", properties: { uri: TEXT }, required: ["uri"] },
      outputSchema: {
        type: "object",
        properties: {
          contents: {
            type: "array",
            items: {
              type: "object",
              properties: {
                type: { const: "resource" },
                uri: TEXT,
                mimeType: TEXT,
                text: TEXT,
                path: { ...TEXT, description: "The file with the bytes, in place of text." },
                size: { type: "integer", description: "Bytes." },
              },
              required: ["type", "mimeType"],
            },
          },
        },
        required: ["contents"],
      },
    },
  ),
];

const PROMPTS: readonly JsonObject[] = [
  definition(SERVER_REQUESTS.listPrompts, "Lists this server's MCP prompts with their arguments.", {
    outputSchema: listOf(
      "prompts",
      {
        ...described,
        arguments: {
          type: "array",
          items: {
            type: "object",
            properties: { name: TEXT, description: TEXT, required: { type: "boolean" } },
            required: ["name"],
          },
        },
      },
      ["name"],
    ),
  }),
  definition(SERVER_REQUESTS.getPrompt, "Renders an MCP prompt of this server to messages.", {
    inputSchema: {
      type: "object",
      properties: { name: TEXT, arguments: { type: "object", additionalProperties: TEXT } },
      required: ["name"],
    },
    outputSchema: {
      type: "object",
      properties: {
        description: TEXT,
        messages: {
          type: "array",
          items: { type: "object", properties: { role: TEXT, content: {} }, required: ["role", "content"] },
        },
      },
      required: ["messages"],
    },
  }),
];

/** The schema of the arguments of one of the {@link SERVER_REQUESTS}. */
export function inputOfRequest(tool: string): JsonObject | undefined {
  return [...RESOURCES, ...PROMPTS].find(({ name }) => name === tool)?.["inputSchema"] as
    | JsonObject
    | undefined;
}

/** The functions by which code lists and reads what a server has besides tools, as definitions of tools. */
export function serverRequestDefinitions({
  offers,
}: {
  offers: { resources: boolean; prompts: boolean };
}): readonly JsonObject[] {
  return [...(offers.resources ? RESOURCES : []), ...(offers.prompts ? PROMPTS : [])];
}

function definition(name: string, description: string, schemas: JsonObject): JsonObject {
  return { name, description, inputSchema: NO_INPUT, annotations: READ_ONLY, ...schemas };
}

function listOf(key: string, properties: JsonObject, required: readonly string[]): JsonObject {
  const items = { type: "object", properties, required: [...required] };
  return {
    type: "object",
    properties: {
      [key]: { type: "array", items },
      cut: { ...TEXT, description: "Why the list is incomplete." },
    },
    required: [key],
  };
}
