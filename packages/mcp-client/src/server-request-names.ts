/**
 * What a server offers besides tools, by the tool name under which code reaches it through the bridge. No
 * tool of a server is ever called by such a name.
 */
export const SERVER_REQUESTS = {
  listResources: "mcp:resources/list",
  listResourceTemplates: "mcp:resources/templates/list",
  readResource: "mcp:resources/read",
  listPrompts: "mcp:prompts/list",
  getPrompt: "mcp:prompts/get",
} as const;

const RESERVED_PREFIX = "mcp:";

/** Whether a call is for the server itself and not for one of its tools. */
export function isServerRequest(tool: string): boolean {
  return tool.startsWith(RESERVED_PREFIX);
}
