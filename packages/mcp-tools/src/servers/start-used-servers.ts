import path from "node:path";
import type { CodeGenerator, ToolDefinition } from "@cem/core";
import type { GeneratedFolders } from "../generated/generated-folders.ts";
import type { McpServers } from "./mcp-servers.ts";

/** A generator after which the servers that the code uses start, while the code is still being reviewed. */
export function startUsedServers(
  generator: CodeGenerator,
  servers: McpServers,
  folders: GeneratedFolders,
): CodeGenerator {
  if (servers.byName.size === 0) return generator;
  return {
    specificationVersion: "v1",
    async generate(request) {
      const generated = await generator.generate(request);
      if (generated.status === "generated") void start(generated.uses, servers, folders);
      return generated;
    },
  };
}

/** Failures are ignored: the call itself fails in the same way, and reports it. */
async function start(
  tools: readonly ToolDefinition[],
  servers: McpServers,
  folders: GeneratedFolders,
): Promise<void> {
  const used = new Set(
    tools.flatMap(({ kind, file }) => (kind === "host" && file !== undefined ? [path.dirname(file)] : [])),
  );
  await Promise.allSettled(
    [...used].map(async (folder) => {
      const name = (await folders.read(folder))?.lock.server.name;
      if (name === undefined || servers.byName.get(name)?.enabled !== true) return;
      const connections = await servers.connections();
      await connections.listTools(name);
    }),
  );
}
