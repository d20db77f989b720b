import { createRequire } from "node:module";
import path from "node:path";
import { answerErrors, checkCalls, compose } from "@cem/bridge";
import type { ToolCatalog, ToolInvoker, ToolServer } from "@cem/core";
import { createMcpConnections, createMcpToolSource } from "@cem/mcp-client";
import type { McpConnections, McpServerSettings } from "@cem/mcp-client";
import { writeServerFiles } from "@cem/tool-files";
import type { RawToolDefinition } from "@cem/tool-files";
import { toolsOf } from "./tools-of.ts";

const require = createRequire(import.meta.url);
const PACKAGES = {
  everything: "server-everything",
  filesystem: "server-filesystem",
  memory: "server-memory",
};

/** Real MCP servers as tools: their definitions, the files that code imports, and what answers calls. */
export interface McpTools {
  catalog: ToolCatalog;
  definitions: { server: string; definition: RawToolDefinition }[];
  invoker: ToolInvoker;
  connections: McpConnections;
}

export async function startMcpTools(root: string, serversDir: string): Promise<McpTools> {
  const settings = Object.entries(PACKAGES).map(([name, folder]): McpServerSettings => {
    const manifest = require.resolve(`@modelcontextprotocol/${folder}/package.json`);
    const args = [
      path.join(path.dirname(manifest), "dist/index.js"),
      ...(name === "filesystem" ? [root] : []),
    ];
    return { name, transport: { kind: "stdio", command: process.execPath, args } };
  });
  const connections = createMcpConnections({ servers: settings });
  const servers: ToolServer[] = [];
  const definitions: McpTools["definitions"] = [];
  for (const server of Object.keys(PACKAGES)) {
    const { tools } = await connections.listTools(server);
    const listed = tools.map(({ definition, name }): RawToolDefinition => ({ ...definition, name }));
    await writeServerFiles({
      serversDir,
      folder: server,
      server,
      definitions: listed,
      clientModule: "cem:client",
    });
    definitions.push(...listed.map((definition) => ({ server, definition })));
    servers.push({ name: server, description: "", kind: "host", tools: toolsOf(server, listed) });
  }
  const catalog: ToolCatalog = {
    specificationVersion: "v1",
    list: async () => ({ servers, problems: [], version: "1" }),
  };
  const tools = createMcpToolSource(connections);
  const invoker = compose([answerErrors, checkCalls(tools)], tools);
  return { catalog, connections, definitions, invoker };
}
