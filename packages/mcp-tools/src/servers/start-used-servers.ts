import path from "node:path";
import { preloadSchemaValidation } from "@cem/bridge";
import type { Guard, ToolDefinition } from "@cem/core";
import type { GeneratedFolders } from "../generated/generated-folders.ts";
import type { McpServers } from "./mcp-servers.ts";

/** A guard that starts the servers whose tools the code imports, while it reviews the code: most take longer to start. */
export function startUsedServers(guard: Guard, servers: McpServers, folders: GeneratedFolders): Guard {
  if (servers.byName.size === 0) return guard;
  const started = new Set<string>();
  return {
    specificationVersion: "v1",
    async review(request) {
      const reviewing = guard.review(request);
      for (const folder of importedFolders(request.code, request.tools)) {
        if (started.has(folder)) continue;
        started.add(folder);
        void start(folder, servers, folders);
      }
      return reviewing;
    },
  };
}

/** Starts every server that is switched on. Resolves when each has answered or failed. */
export async function startAllServers(servers: McpServers): Promise<void> {
  const names = [...servers.byName].filter(([, { enabled }]) => enabled).map(([name]) => name);
  await Promise.all(names.map((name) => connect(name, servers)));
}

/** The folders of the generated tools that the code may import: it names them. */
function importedFolders(code: string, tools: readonly ToolDefinition[]): Set<string> {
  const folders = new Set<string>();
  for (const { kind, file, module } of tools) {
    if (kind === "host" && file !== undefined && code.includes(module.replace(/^\.|\/[^/]+$/gu, ""))) {
      folders.add(path.dirname(file));
    }
  }
  return folders;
}

async function start(folder: string, servers: McpServers, folders: GeneratedFolders): Promise<void> {
  const generated = await folders.read(folder).catch(() => undefined);
  const name = generated?.lock.server.name;
  if (name === undefined || servers.byName.get(name)?.enabled !== true) return;
  await connect(name, servers);
}

/** Failures are ignored: the call itself fails in the same way, and reports it. */
async function connect(name: string, servers: McpServers): Promise<void> {
  try {
    const connections = await servers.connections();
    await Promise.all([connections.listTools(name), preloadSchemaValidation()]);
  } catch {
    // See above.
  }
}
