import type * as McpServer from "@cem/mcp-server";

/** What the list of a server's tools costs the model of a client, in tokens. */
export const measureTokenCost: typeof McpServer.measureTokenCost = async (...args) =>
  (await import("@cem/mcp-server")).measureTokenCost(...args);

/** What the same model would pay if every tool stood in the list itself, in tokens. */
export const measureDirectCost: typeof McpServer.measureDirectCost = async (...args) =>
  (await import("@cem/mcp-server")).measureDirectCost(...args);
