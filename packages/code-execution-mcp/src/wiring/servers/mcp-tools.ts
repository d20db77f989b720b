import { existsSync } from "node:fs";
import path from "node:path";
import type { McpServerSetting, Secret, ServerAuthSetting } from "@cem/config";
import type { Elicit, McpTransportProvider, ResultStore } from "@cem/core";
import type { AuthSettings, TransportSettings } from "@cem/mcp-client";
import type { LogEntry, McpTools } from "@cem/mcp-client/tools";
import type { Log } from "../log.ts";
import { authFolder, type Project } from "../project.ts";

const MS_PER_SECOND = 1_000;
/** Minimum start timeout of a server without generated tools, in milliseconds. */
const FIRST_START_TIMEOUT_MS = 180_000;

/**
 * Maps a server of the configuration to settings of the MCP client. `${NAME}` stays in place.
 *
 * @param isFirstStart - Whether the server may have to be downloaded.
 */
function toServerSettings(setting: McpServerSetting, isFirstStart: boolean) {
  const { name, enabled, timeout, concurrency, writes, protocol } = setting;
  const { connections, maxConnections } = setting;
  const timeoutMs = Math.ceil(timeout * MS_PER_SECOND);
  const auth = setting.connectionType === "stdio" ? undefined : setting.auth;
  return {
    name,
    enabled,
    timeoutMs,
    connectTimeoutMs: Math.max(timeoutMs, isFirstStart ? FIRST_START_TIMEOUT_MS : 0),
    concurrency,
    writes,
    protocol,
    connections,
    maxConnections,
    auth: auth === undefined ? undefined : toAuth(auth),
  };
}

/**
 * The scheme of a URL determines which plugin connects to it, if any.
 *
 * @param folder - Where commands start unless `cwd` names another folder.
 */
function toTransport(
  setting: McpServerSetting,
  folder: string,
  transports: ReadonlyMap<string, McpTransportProvider> | undefined,
  variable: Project["variable"],
): TransportSettings {
  if (setting.connectionType !== "stdio") {
    const { connectionType, url, headers } = setting;
    const [, scheme = ""] = /^([a-z][a-z\d+.-]*):/iu.exec(url) ?? [];
    const provider = transports?.get(scheme.toLowerCase());
    if (provider !== undefined) return { kind: "custom", url, headers: reveal(headers), provider };
    return { kind: connectionType === "sse" ? "sse" : "http", url, headers: reveal(headers) };
  }
  const { command, args, env, cwd = folder } = setting;
  return { kind: "stdio", command, args, env: reveal(env), cwd, variable };
}

function toAuth({ clientSecret, ...rest }: ServerAuthSetting): AuthSettings {
  const secret = clientSecret === undefined ? {} : { clientSecret: clientSecret.reveal() };
  return { ...rest, ...secret } as AuthSettings;
}

function reveal(secrets: Readonly<Record<string, Secret>>): Record<string, string> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]));
}

interface McpToolsOptions {
  log: Log;
  /** Stores images, other bytes and large results. */
  store?: ResultStore | undefined;
  /** Answers questions of servers to the user. Absent: such questions are cancelled. */
  elicit?: Elicit | undefined;
  /**
   * Whether files of generated tools are updated while they are used.
   *
   * @defaultValue true
   */
  changesFiles?: boolean | undefined;
}

export async function openMcpTools(
  { config, folder, trust, variable, owner, pluginSet, store: shared }: Project,
  { log, store, elicit, changesFiles }: McpToolsOptions,
): Promise<McpTools> {
  const [{ createMcpTools }, { folderUntrusted }] = await Promise.all([
    import("@cem/mcp-client/tools"),
    import("@cem/config"),
  ]);
  const { serversDir } = config.execution;
  const transports = (await pluginSet?.get())?.transports;
  const customerExists =
    owner && (await import("@cem/workspace")).followCustomer(owner.home, await shared?.get());
  await customerExists?.();
  const held = new Set(trust.held.filter(({ kind }) => kind === "server").map(({ name }) => name));
  return createMcpTools({
    servers: config.mcpServers.map((server) => ({
      ...toServerSettings(server, !existsSync(path.join(serversDir, server.name))),
      transport: toTransport(server, folder, transports, variable),
      customer: owner?.id,
    })),
    obstacleOf: (server) =>
      held.has(server) ? folderUntrusted(`The MCP server "${server}"`, trust.folder) : undefined,
    serversDir,
    authFolder: owner?.authDir ?? (await authFolder(folder)),
    customerExists,
    holdChanged: config.guardrails.changedTools === "hold",
    changesFiles,
    variable,
    store,
    elicit,
    onLog: (entry) => log(...toLogLine(entry)),
  });
}

/** Adds the server's name to its own output. Messages of the client contain it already. */
function toLogLine({ server, level, source, message }: LogEntry): Parameters<Log> {
  const text = source === "client" ? message : `${server} (${source}): ${message}`;
  return [level === "warn" ? "warning" : level, text];
}
