import path from "node:path";
import type { FailedTool } from "@cem/core";
import { serverFolders } from "../servers/mcp-servers.ts";
import type { McpServers } from "../servers/mcp-servers.ts";
import { GeneratedFolders } from "./generated-folders.ts";

/** Finds the names that a tool of an MCP server has in code. `undefined`: the names are the same. */
export type FindNameInCode = (tool: FailedTool) => Promise<FailedTool | undefined>;

/** Reads names in code from the files that were generated for servers. Connects to nothing. */
export function namesInCode(servers: readonly { name: string }[], serversDir: string): FindNameInCode {
  const names = servers.map(({ name }) => name);
  return createNameFinder(new Set(names), serverFolders(names, serversDir), new GeneratedFolders());
}

/** The same, with an existing reader of folders. */
export function createNameFinder(
  servers: { has(name: string): boolean },
  folderOf: McpServers["folderOf"],
  folders: GeneratedFolders,
): FindNameInCode {
  return async ({ server, tool }) => {
    if (!servers.has(server)) return undefined;
    const folder = await folderOf(server);
    const name = (await folders.read(folder))?.locked.get(tool)?.name ?? tool;
    return { server: path.basename(folder), tool: name };
  };
}
