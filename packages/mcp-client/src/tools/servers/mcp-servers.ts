import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { CemError, isObject, Lazy, parseJson } from "@cem/core";
import type { LogEntry } from "../../connection/connection-types.ts";
import type { McpConnections, McpConnectionsSettings } from "../../connections.ts";
import type { McpServerSettings } from "../../settings/server-settings.ts";

export interface McpServersSettings extends Pick<McpConnectionsSettings, "customerExists" | "elicit"> {
  /** The servers, with `${NAME}` still in place of variables. */
  servers: readonly McpServerSettings[];
  /**
   * Why an enabled server may not be connected to.
   *
   * @defaultValue all may be
   */
  obstacleOf?: ((server: string) => CemError | undefined) | undefined;
  /** The folder that holds a folder of generated files for each server. Absolute. */
  serversDir: string;
  /** Where sign-ins are kept. Absolute. */
  authFolder: string;
  /**
   * Looks up a variable for `${NAME}`.
   *
   * @defaultValue the process's environment
   */
  variable?: ((name: string) => string | undefined) | undefined;
  /** Receives servers' stderr output, and their failures. */
  onLog?: ((entry: LogEntry) => void) | undefined;
}

export type ServerChanges = Pick<McpConnectionsSettings, "onToolsListed" | "onContentsChanged">;

/** The state of a server that is known without connecting to it. */
export interface ConfiguredServer {
  enabled: boolean;
  /** Why it can't be connected. Errors in its settings are known once the connections were requested. */
  error?: CemError | undefined;
}

/** The configured MCP servers, with connections that are created on first use. */
export type McpServers = ReturnType<typeof createMcpServers>;

/** Sets up servers. Everything is loaded and started on first use. */
export function createMcpServers(settings: McpServersSettings, changes: ServerChanges) {
  const { servers, serversDir, authFolder, customerExists, elicit, onLog } = settings;
  const variable = settings.variable ?? ((name: string) => process.env[name]);
  const byName = new Map<string, ConfiguredServer>(
    servers.map(({ name, enabled = true }) => [
      name,
      { enabled, error: enabled ? settings.obstacleOf?.(name) : undefined },
    ]),
  );
  const connections = new Lazy(async () => {
    const { createMcpConnections, fillVariables } = await import("../../index.ts");
    const filled = servers.map((server): McpServerSettings => {
      if (server.enabled === false) return server;
      if (byName.get(server.name)?.error !== undefined) return { ...server, enabled: false };
      try {
        return fillVariables(server, variable);
      } catch (error) {
        if (!CemError.isInstance(error)) throw error;
        // A misconfigured server does not affect others.
        byName.set(server.name, { enabled: true, error });
        return { ...server, enabled: false };
      }
    });
    const own = { servers: filled, authFolder, customerExists, log: onLog, elicit };
    return createMcpConnections({ ...own, ...changes });
  });

  return {
    /** By name, in the order of the settings. */
    byName: byName as ReadonlyMap<string, ConfiguredServer>,
    /** The folder of a server's generated tools, absolute. */
    folderOf: serverFolders([...byName.keys()], serversDir),
    /** The connections, created at the first call. This starts no server. */
    connections: () => connections.get(),
    /**
     * The connections, for use with one server.
     *
     * @throws the error in the server's settings.
     */
    connectionsFor: async (server: string): Promise<McpConnections> => {
      const made = await connections.get();
      const error = byName.get(server)?.error;
      if (error !== undefined) throw error;
      return made;
    },
    /** The connections, if already created. */
    openConnections: () => connections.current,
    /** Ends every connection and server process. Safe to call twice. */
    async close(): Promise<void> {
      await (await connections.settled())?.close();
    },
  };
}

/** Finds the folder of a server's generated tools, absolute. */
export function serverFolders(
  servers: readonly string[],
  serversDir: string,
): (server: string) => Promise<string> {
  let names: Promise<ReadonlyMap<string, string>> | undefined;
  return async (server) => {
    names ??= import("@cem/tool-files").then(({ nameServerFolders, LOCK_FILE }) =>
      nameServerFolders(servers, (folder) => lockedServer(path.join(serversDir, folder, LOCK_FILE))),
    );
    return path.join(serversDir, (await names).get(server) ?? server);
  };
}

function lockedServer(file: string): string | undefined {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const lock = parseJson(readFileSync(file, "utf8"));
  const server = isObject(lock) ? lock["server"] : undefined;
  return isObject(server) && typeof server["name"] === "string" ? server["name"] : undefined;
}
