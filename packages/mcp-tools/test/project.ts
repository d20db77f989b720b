import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { answerErrors, checkCalls, compose } from "@cem/bridge";
import type { CatalogSnapshot, JsonObject, ToolResult } from "@cem/core";
import { createDiscovery } from "@cem/discovery";
import { onTestFinished } from "vitest";
import { odd as oddServer } from "../../mcp-client/fixtures/servers.ts";
import { createMcpTools } from "../src/mcp-tools.ts";
import type { McpTools, McpToolsSettings } from "../src/mcp-tools.ts";

type Server = McpToolsSettings["servers"][number];

/** The odd server under a name, with a description for its tool `echo`. */
export function odd(mode = "plain", { name = "odd", saying = "" } = {}): Server {
  const server = oddServer(mode);
  const { transport } = server;
  if (transport.kind !== "stdio" || saying === "") return { ...server, name };
  return { ...server, name, transport: { ...transport, args: [...(transport.args ?? []), saying] } };
}

export { answering } from "../../mcp-client/fixtures/servers.ts";

/** The MCP tools of some servers, and the two ways others use them: a catalog and calls. */
export interface OpenedTools {
  tools: McpTools;
  log: string[];
  catalog: () => Promise<CatalogSnapshot>;
  /** Calls through a bridge that checks the call first. */
  call: (server: string, tool: string, args?: JsonObject) => Promise<ToolResult>;
}

export interface Project {
  serversDir: string;
  open: (servers: readonly Server[], more?: Partial<McpToolsSettings>) => OpenedTools;
}

/** A project folder that is deleted after the test, like everything opened in it. */
export async function makeProject(): Promise<Project> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "cem-mcp-tools-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const serversDir = path.join(folder, "servers");
  return {
    serversDir,
    open(servers, more) {
      const log: string[] = [];
      const tools = createMcpTools({
        servers,
        serversDir,
        authFolder: path.join(folder, "auth"),
        onLog: ({ server, message }) => log.push(`${server}: ${message}`),
        ...more,
      });
      onTestFinished(() => tools.close());
      const discovery = createDiscovery({
        serversDir,
        skillsDir: path.join(folder, "skills"),
        readListed: (listed) => tools.readListed(listed),
      });
      const catalog = tools.withAvailability(discovery);
      const invoker = compose([answerErrors, checkCalls(tools.source)], tools.source);
      return {
        tools,
        log,
        catalog: () => catalog.list(),
        call: (server, tool, args = {}) =>
          invoker.invoke({ server, tool, args }, { signal: new AbortController().signal }),
      };
    },
  };
}
