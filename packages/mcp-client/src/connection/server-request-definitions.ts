import type { JsonObject } from "@cem/core";

/**
 * Reserved tool names for listing and reading a server's resources and prompts through a ToolInvoker. A server's tool with
 * such a name is left out.
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
const DESCRIBED = { name: TEXT, title: TEXT, description: TEXT } as const;

const CONTENTS = objectOf(
  {
    type: { const: "resource" },
    uri: TEXT,
    mimeType: TEXT,
    text: TEXT,
    path: { ...TEXT, description: "The file with the bytes, in place of text." },
    size: { type: "integer", description: "Bytes." },
  },
  "type",
  "mimeType",
);

const RESOURCES: readonly JsonObject[] = [
  definition(
    SERVER_REQUESTS.listResources,
    "Lists this server's MCP resources: documents, files or data by URI.",
    listOf("resources", objectOf({ uri: TEXT, ...DESCRIBED, mimeType: TEXT }, "uri", "name")),
  ),
  definition(
    SERVER_REQUESTS.listResourceTemplates,
    "Lists this server's MCP resource templates: patterns of URIs to fill in and read.",
    listOf(
      "resourceTemplates",
      objectOf({ uriTemplate: TEXT, ...DESCRIBED, mimeType: TEXT }, "uriTemplate", "name"),
    ),
  ),
  definition(
    SERVER_REQUESTS.readResource,
    "Reads an MCP resource of this server by its URI: text, or the path of a file with its bytes.",
    objectOf({ contents: { type: "array", items: CONTENTS } }, "contents"),
    objectOf({ uri: TEXT }, "uri"),
  ),
];

const PROMPT_ARGUMENT = objectOf({ name: TEXT, description: TEXT, required: { type: "boolean" } }, "name");
const MESSAGE = objectOf({ role: TEXT, content: {} }, "role", "content");

const PROMPTS: readonly JsonObject[] = [
  definition(
    SERVER_REQUESTS.listPrompts,
    "Lists this server's MCP prompts with their arguments.",
    listOf(
      "prompts",
      objectOf({ ...DESCRIBED, arguments: { type: "array", items: PROMPT_ARGUMENT } }, "name"),
    ),
  ),
  definition(
    SERVER_REQUESTS.getPrompt,
    "Renders an MCP prompt of this server to messages.",
    objectOf({ description: TEXT, messages: { type: "array", items: MESSAGE } }, "messages"),
    objectOf({ name: TEXT, arguments: { type: "object", additionalProperties: TEXT } }, "name"),
  ),
];

/** The schema of the arguments of one of the {@link SERVER_REQUESTS}. */
export function inputOfRequest(tool: string): JsonObject | undefined {
  const found = [...RESOURCES, ...PROMPTS].find(({ name }) => name === tool);
  return found?.["inputSchema"] as JsonObject | undefined;
}

/** Tool definitions of the functions for listing and reading a server's resources and prompts. */
export function serverRequestDefinitions({
  offers,
}: {
  offers: { resources: boolean; prompts: boolean };
}): readonly JsonObject[] {
  return [...(offers.resources ? RESOURCES : []), ...(offers.prompts ? PROMPTS : [])];
}

function definition(
  name: string,
  description: string,
  outputSchema: JsonObject,
  inputSchema: JsonObject = NO_INPUT,
): JsonObject {
  return { name, description, inputSchema, annotations: { readOnlyHint: true }, outputSchema };
}

function objectOf(properties: JsonObject, ...required: string[]): JsonObject {
  return { type: "object", properties, required };
}

function listOf(key: string, items: JsonObject): JsonObject {
  const cut = { ...TEXT, description: "Why the list is incomplete." };
  return objectOf({ [key]: { type: "array", items }, cut }, key);
}
