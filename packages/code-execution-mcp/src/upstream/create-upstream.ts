import path from "node:path";
import type { ToolSource } from "@cem/bridge";
import type { Config } from "@cem/config";
import { CemError } from "@cem/core";
import type { Elicit, ResultStore, ToolCatalog } from "@cem/core";
import type { LogEntry, McpConnections, McpServerSettings } from "@cem/mcp-client";
import type { Log } from "../log.ts";
import { authFolder } from "./auth-folder.ts";
import { createGeneratedFolders } from "./generated-folders.ts";
import type { GeneratedFolders } from "./generated-folders.ts";
import { createGeneratedTools } from "./generated-tools.ts";
import { markUnavailable } from "./mark-unavailable.ts";
import { toServerSettings } from "./server-settings.ts";
import { createToolChanges } from "./tool-changes.ts";
import type { ToolChanges } from "./tool-changes.ts";

export interface UpstreamOptions {
  /** Looks up a variable for `${NAME}`. Default: `process.env`. */
  variable?: ((name: string) => string | undefined) | undefined;
  /** Takes what servers write to stderr, and what goes wrong with them. */
  log?: Log | undefined;
  /** Answers servers that ask the user something. Absent: such questions are declined. */
  elicit?: Elicit | undefined;
  /** Keeps images, other bytes and large results. */
  store?: ResultStore | undefined;
  /** The least time a server has to start, in milliseconds: a first start may download it. Default: 0. */
  minConnectTimeoutMs?: number | undefined;
}

export interface ConfiguredServer {
  enabled: boolean;
  /** What is wrong with its settings, known once the connections were asked for. */
  error?: CemError | undefined;
}

/** The MCP servers of a configuration: their connections, their generated tools, and the way from one to the other. */
export interface Upstream {
  /** The servers by name, in the order of the configuration. */
  readonly servers: ReadonlyMap<string, ConfiguredServer>;
  /** Whether tools are held back that changed. */
  readonly holdsChanges: boolean;
  readonly folders: GeneratedFolders;
  readonly changes: ToolChanges;
  /** The generated tools, each as it was accepted, for a bridge that checks their calls. */
  readonly tools: ToolSource;
  /** The folder of a server's generated tools, absolute. */
  folderOf(server: string): Promise<string>;
  /** The connections, made when first asked for. Nothing is started by that. */
  connections(): Promise<McpConnections>;
  /** The connections, if anybody asked for them so far. */
  connectionsSoFar(): McpConnections | undefined;
  /** A catalog whose tools of MCP servers say when they can't be called. Connects to nothing. */
  decorate(catalog: ToolCatalog): ToolCatalog;
  /** Ends every connection and server process. Safe to call twice. */
  close(): Promise<void>;
}

/** Nothing is loaded or started before it is needed, and no server waits for another. */
export function createUpstream(config: Config, options: UpstreamOptions = {}): Upstream {
  const { variable = (name) => process.env[name], store, elicit, minConnectTimeoutMs = 0 } = options;
  const settings = config.mcpServers.map((server) => toServerSettings(server, minConnectTimeoutMs));
  const servers = new Map<string, ConfiguredServer>(
    settings.map(({ name, enabled = true }) => [name, { enabled }]),
  );
  const folders = createGeneratedFolders();
  const changes = createToolChanges();
  const { serversDir } = config.execution;
  const holdsChanges = config.guardrails.changedTools === "hold";
  let connecting: Promise<McpConnections> | undefined;
  let connected: McpConnections | undefined;
  let naming: Promise<ReadonlyMap<string, string>> | undefined;

  const connect = async (): Promise<McpConnections> => {
    const { createMcpConnections, fillVariables } = await import("@cem/mcp-client");
    const filled = settings.map((server): McpServerSettings => {
      if (server.enabled === false) return server;
      try {
        return fillVariables(server, variable);
      } catch (error) {
        if (!CemError.isInstance(error)) throw error;
        // It costs no other server anything.
        servers.set(server.name, { enabled: true, error });
        return { ...server, enabled: false };
      }
    });
    connected = createMcpConnections({
      servers: filled,
      authFolder: authFolder(),
      log: (entry) => options.log?.(...toLogLine(entry)),
      ...(elicit === undefined ? {} : { elicit }),
    });
    return connected;
  };
  const connections = (): Promise<McpConnections> => (connecting ??= connect());

  const folderOf = async (server: string): Promise<string> => {
    naming ??= import("@cem/tool-files").then(({ nameServerFolders }) =>
      nameServerFolders([...servers.keys()]),
    );
    return path.join(serversDir, (await naming).get(server) ?? server);
  };

  const tools = createGeneratedTools(
    { servers, holdsChanges, folders, changes, folderOf, connections },
    store,
  );

  const upstream: Upstream = {
    servers,
    holdsChanges,
    folders,
    changes,
    tools,
    folderOf,
    connections,
    connectionsSoFar: () => connected,
    decorate(catalog) {
      return {
        specificationVersion: "v1",
        list: async (listOptions) => markUnavailable(await catalog.list(listOptions), upstream),
      };
    },
    async close() {
      await (await connecting?.catch(() => undefined))?.close();
      await tools.save();
    },
  };
  return upstream;
}

/** What a server says of itself interests who looks for a fault; that it is down interests everybody. */
function toLogLine({ server, level, source, message }: LogEntry): Parameters<Log> {
  const text = source === "client" ? message : `${server} (${source}): ${message}`;
  return [level === "warn" ? "warning" : level, text];
}
