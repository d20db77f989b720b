import type { Elicit, ResultStore } from "@cem/core";
import type { LogEntry, McpTools } from "@cem/mcp-client/tools";
import { authFolder } from "./auth-folder.ts";
import type { LoadedFor } from "./customer.ts";
import type { Log } from "./log.ts";
import { toServerSettings } from "./server-settings.ts";

interface McpToolsOptions {
  log: Log;
  /** Keeps images, other bytes and large results. */
  store?: ResultStore | undefined;
  /** Answers servers that ask the user something. Absent: such questions are cancelled. */
  elicit?: Elicit | undefined;
  /**
   * The least time a server has to start, in milliseconds: a first start may download it.
   *
   * @defaultValue 0
   */
  minConnectTimeoutMs?: number | undefined;
  /**
   * Whether files of generated tools are updated while they are used.
   *
   * @defaultValue true
   */
  changesFiles?: boolean | undefined;
}

/** The tools of the MCP servers that a configuration names. */
export async function openMcpTools(
  { config, folder, trust, variable, customer, pluginSet }: LoadedFor,
  { log, store, elicit, minConnectTimeoutMs = 0, changesFiles }: McpToolsOptions,
): Promise<McpTools> {
  const [{ createMcpTools }, { folderUntrusted }] = await Promise.all([
    import("@cem/mcp-client/tools"),
    import("@cem/config"),
  ]);
  const transports = (await pluginSet?.get())?.transports;
  const held = new Set(trust.held.filter(({ kind }) => kind === "server").map(({ name }) => name));
  return createMcpTools({
    servers: config.mcpServers.map((server) =>
      toServerSettings(server, { minConnectTimeoutMs, folder, transports }),
    ),
    obstacleOf: (server) =>
      held.has(server) ? folderUntrusted(`The MCP server "${server}"`, trust.folder) : undefined,
    serversDir: config.execution.serversDir,
    authFolder: customer?.authDir ?? (await authFolder(folder)),
    holdChanged: config.guardrails.changedTools === "hold",
    changesFiles,
    variable,
    store,
    elicit,
    onLog: (entry) => log(...toLogLine(entry)),
  });
}

/** Names the server where it speaks itself; what the client says names it already. */
function toLogLine({ server, level, source, message }: LogEntry): Parameters<Log> {
  const text = source === "client" ? message : `${server} (${source}): ${message}`;
  return [level === "warn" ? "warning" : level, text];
}
