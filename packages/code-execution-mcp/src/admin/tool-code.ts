import type * as McpServer from "@cem/mcp-server";

/** The beginning of the code of a tool that is a file of the project. */
export const readToolCode: typeof McpServer.readToolCode = async (...args) =>
  (await import("@cem/mcp-server")).readToolCode(...args);
