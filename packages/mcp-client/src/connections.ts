import { serverNotFound } from "@cem/core";
import type { Elicit, JsonObject } from "@cem/core";
import * as z from "zod";
import type {
  AuthorizeOptions,
  CallOptions,
  ContentChange,
  ListedItems,
  ListKind,
  LogEntry,
  RawToolResult,
  ServerRequest,
  ServerStatus,
  ToolList,
} from "./connection/connection-types.ts";
import { limitLog } from "./connection/limit-log.ts";
import { createServerClient } from "./connection/server-client.ts";
import type { ServerClient } from "./connection/server-client.ts";
import { fetchRawList, LIST_METHODS } from "./connection/tool-list.ts";
import { createOAuth } from "./oauth/oauth.ts";
import type { McpServerSettings } from "./settings/server-settings.ts";
import { NO_SDK_TIMEOUT_MS } from "./transport/running-calls.ts";

/** Settings of {@link createMcpConnections}. */
export interface McpConnectionsSettings {
  servers: readonly McpServerSettings[];
  /** Receives log entries: what servers write to stderr, their log notifications, and failures. Secrets are redacted. */
  log?: ((entry: LogEntry) => void) | undefined;
  /** Asks the user on behalf of a server (elicitation). Absent: such requests are cancelled. */
  elicit?: Elicit | undefined;
  /** Folder where OAuth tokens are stored. Absent: they are kept in memory. */
  authFolder?: string | undefined;
  /**
   * The name and version this client gives itself.
   *
   * @defaultValue `{ name: "code-execution-mcp", version: "0" }`
   */
  identity?: { name: string; version: string } | undefined;
  /**
   * Called when a server's tools were listed again because they may have changed. With it they are listed at once when the
   * server says so.
   */
  onToolsListed?: ((server: string, list: ToolList) => void) | undefined;
  /** Called when a server said that its resources or prompts, or a resource that is watched, changed. */
  onContentsChanged?: ((server: string, change: ContentChange) => void) | undefined;
}

interface WithSignal {
  signal?: AbortSignal | undefined;
}

/** Connections to MCP servers, each opened on first use. */
export interface McpConnections {
  /** The servers' names, in the order of the settings. */
  readonly servers: readonly string[];
  /** The state of each connection; connects to none. */
  status(): ServerStatus[];
  /** Connects to all servers that are not disabled at once, lists their tools, and returns the resulting states. */
  check(options?: WithSignal): Promise<ServerStatus[]>;
  /**
   * Lists the tools of a server. The list is cached until the server says that it changed.
   *
   * @param options - `refresh` fetches the list again in any case.
   * @throws CemError `SERVER_DOWN`, `AUTH_REQUIRED`, `SERVER_DISABLED`, `SERVER_CLOSED`, `SERVER_NOT_FOUND`,
   *   `TOOL_TIMEOUT` or `PROTOCOL_ERROR`.
   */
  listTools(server: string, options?: WithSignal & { refresh?: boolean | undefined }): Promise<ToolList>;
  /** The last list of a server's tools, also while the server is down. Absent when they were never listed. */
  knownTools(server: string): ToolList | undefined;
  /** The last list of a server's tools, unless it may have changed since. */
  currentTools(server: string): ToolList | undefined;
  /**
   * Calls a tool without checking its arguments; `createMcpInvoker` checks them.
   *
   * @throws CemError with the codes of `listTools`, or `ABORTED`.
   */
  callTool(server: string, tool: string, args: JsonObject, options: CallOptions): Promise<RawToolResult>;
  /** Lists all resources, resource templates or prompts of a server. */
  list(server: string, kind: ListKind, options?: Partial<CallOptions>): Promise<ListedItems>;
  /** Reads a resource, renders a prompt or completes an argument of one. */
  request(server: string, request: ServerRequest, options: CallOptions): Promise<JsonObject>;
  /**
   * Signs in to a server through the browser and stores the tokens.
   *
   * @throws CemError `AUTH_FAILED`, or `SERVER_NOT_FOUND`.
   */
  authorize(server: string, options: AuthorizeOptions): Promise<void>;
  /** Ends all calls, connections and server processes. May be called more than once. */
  close(): Promise<void>;
}

/** Creates connections to MCP servers. Nothing is started or connected before it is needed. */
export function createMcpConnections(settings: McpConnectionsSettings): McpConnections {
  const never = new AbortController().signal;
  const log = limitLog(settings.log ?? (() => {}));
  const identity = settings.identity ?? { name: "code-execution-mcp", version: "0" };
  const oauth = createOAuth({ folder: settings.authFolder, clientName: identity.name });
  const clients = new Map<string, ServerClient>();
  const byName = new Map<string, McpServerSettings>();
  for (const server of settings.servers) {
    byName.set(server.name, server);
    const { name } = server;
    const { onToolsListed, onContentsChanged } = settings;
    const client = createServerClient(server, {
      identity,
      log,
      elicit: settings.elicit,
      signIn: oauth.signInFor(server),
      onToolsListed: onToolsListed && ((list) => onToolsListed(name, list)),
      onContentsChanged: (change) => onContentsChanged?.(name, change),
    });
    clients.set(name, client);
  }

  const find = (name: string): ServerClient => {
    const client = clients.get(name);
    if (client !== undefined) return client;
    throw serverNotFound(name, [...clients.keys()]);
  };
  const status = (): ServerStatus[] => [...clients.values()].map((client) => client.status());

  return {
    servers: [...clients.keys()],
    status,
    async check({ signal = never } = {}) {
      const enabled = [...clients.values()].filter((client) => client.status().state !== "disabled");
      for (const client of enabled) client.reset();
      await Promise.allSettled(enabled.map((client) => client.listTools({ signal, refresh: true })));
      return status();
    },
    listTools: async (server, { signal = never, refresh } = {}) =>
      find(server).listTools({ signal, refresh }),
    knownTools: (server) => find(server).knownTools(),
    currentTools: (server) => find(server).currentTools(),
    callTool: async (server, tool, args, options) => await find(server).callTool(tool, args, options),
    list: async (server, kind, options = {}) => listItems(find(server), kind, { signal: never, ...options }),
    request: async (server, request, options) => runRequest(find(server), request, options),
    async authorize(server, options) {
      const client = find(server);
      await oauth.authorize(byName.get(server) as McpServerSettings, options);
      client.reset();
    },
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** Lists all items of one kind. The list is empty for a server without the capability. */
async function listItems(server: ServerClient, kind: ListKind, options: CallOptions): Promise<ListedItems> {
  const method = LIST_METHODS[kind];
  const capability = kind === "prompts" ? kind : "resources";
  return server.request(method, options, async ({ client }, running) => {
    if (client.getServerCapabilities()?.[capability] === undefined) return { items: [] };
    const { items, cut } = await fetchRawList(client, method, running);
    return { items, cut };
  });
}

const anyResult = z.looseObject({});

/** Sends a {@link ServerRequest} and returns the server's result. A server that completes nothing has no values. */
async function runRequest(
  server: ServerClient,
  request: ServerRequest,
  options: CallOptions,
): Promise<JsonObject> {
  return server.request(request.method, options, async ({ client }, { signal, onProgress }) => {
    if (
      request.method === "completion/complete" &&
      client.getServerCapabilities()?.completions === undefined
    ) {
      return { completion: { values: [] } };
    }
    const sdkOptions = { signal, timeout: NO_SDK_TIMEOUT_MS, onprogress: onProgress };
    return (await client.request(request, anyResult, sdkOptions)) as JsonObject;
  });
}
