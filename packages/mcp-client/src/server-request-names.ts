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
