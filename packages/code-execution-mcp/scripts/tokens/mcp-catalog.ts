import { createRequire } from "node:module";
import path from "node:path";
import type { JsonSchema, ToolCatalog, ToolDefinition, ToolInvoker, ToolServer } from "@cem/core";
import { createMcpConnections, createMcpInvoker, parseServerSettings } from "@cem/mcp-client";
import type { McpConnections } from "@cem/mcp-client";
import { generateToolModule, nameTools, writeServerFiles } from "@cem/tool-files";
import type { RawToolDefinition } from "@cem/tool-files";

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
  const mcpServers = Object.fromEntries(
    Object.entries(PACKAGES).map(([name, folder]) => {
      const manifest = require.resolve(`@modelcontextprotocol/${folder}/package.json`);
      const args = [
        path.join(path.dirname(manifest), "dist/index.js"),
        ...(name === "filesystem" ? [root] : []),
      ];
      return [name, { command: process.execPath, args }];
    }),
  );
  const connections = createMcpConnections({ servers: parseServerSettings({ mcpServers }) });
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
  return { catalog, connections, definitions, invoker: createMcpInvoker(connections) };
}

/** Definitions of `tools/list` as everybody after discovery sees them. */
export function toolsOf(server: string, definitions: readonly RawToolDefinition[]): ToolDefinition[] {
  const names = nameTools(definitions.map(({ name }) => name));
  return definitions.map((definition) => {
    const identifier = names.get(definition.name)?.identifier ?? "tool";
    return {
      server,
      name: identifier,
      kind: "host",
      description: definition.description ?? "",
      inputSchema: (definition.inputSchema ?? {}) as JsonSchema,
      callStyle: "object",
      signature: generateToolModule(definition, { server, identifier }).signature,
      module: `./servers/${server}/index.ts`,
    };
  });
}
