import path from "node:path";
import type { FailedTool } from "@cem/core";
import { serverFolders } from "../servers/mcp-servers.ts";
import { GeneratedFolders } from "./generated-folders.ts";

/** Finds the names that a tool of an MCP server has in code. `undefined`: the names are the same. */
export type FindNameInCode = (tool: FailedTool) => Promise<FailedTool | undefined>;

/** Reads names in code from the files that were generated for servers. Connects to nothing. */
export function namesInCode(
  servers: readonly { name: string }[],
  serversDir: string,
  folders = new GeneratedFolders(),
): FindNameInCode {
  const names = servers.map(({ name }) => name);
  const known = new Set(names);
  const folderOf = serverFolders(names, serversDir);
  return async ({ server, tool }) => {
    if (!known.has(server)) return undefined;
    const folder = await folderOf(server);
    const name = (await folders.read(folder))?.locked.get(tool)?.name ?? tool;
    return { server: path.basename(folder), tool: name };
  };
}
