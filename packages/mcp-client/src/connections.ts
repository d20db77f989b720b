import { CemError, MAX_TIMER_MS, serverNotFound, toErrorInfo, type Elicit, type JsonObject } from "@cem/core";
import type {
  AuthorizeOptions,
  CallOptions,
  ContentChange,
  ListedItems,
  ListKind,
  LogEntry,
  ServerRequest,
  ServerStatus,
  ToolList,
} from "./connection/connection-types.ts";
import { limitLog } from "./connection/limit-log.ts";
import { createServerClient, type ServerClient } from "./connection/server-client.ts";
import { ANY_RESULT } from "./connection/tool-call.ts";
import { fetchRawList, LIST_METHODS } from "./connection/tool-list.ts";
import { createOAuth } from "./oauth/oauth.ts";
import type { McpServerSettings } from "./settings/server-settings.ts";

/** Settings of {@link createMcpConnections}. */
export interface McpConnectionsSettings {
  servers: readonly McpServerSettings[];
  /** Receives log entries: servers' stderr output, their log notifications, and failures. Secrets are redacted. */
  log?: ((entry: LogEntry) => void) | undefined;
  /** Asks the user on behalf of a server (elicitation). Absent: such requests are cancelled. */
  elicit?: Elicit | undefined;
  /** Folder where OAuth tokens are stored. Absent: they are kept in memory. */
  authFolder?: string | undefined;
  /**
   * Whether the customer that owns the sign-ins still exists. If not, no more sign-ins are stored.
   *
   * @defaultValue the sign-ins belong to no customer
   */
  customerExists?: (() => Promise<boolean>) | undefined;
  /**
   * The name and version this client gives itself.
   *
   * @defaultValue `{ name: "code-execution-mcp", version: "0" }`
   */
  identity?: { name: string; version: string } | undefined;
  /**
   * Called when a server's tools were listed again because they may have changed. If set, they are listed as soon as the
   * server reports a change.
   */
  onToolsListed?: ((server: string, list: ToolList) => void) | undefined;
  /** Called when a server reports a change of its resources or prompts, or of a watched resource. */
  onContentsChanged?: ((server: string, change: ContentChange) => void) | undefined;
}

/** Connections to MCP servers, each opened on first use. */
export type McpConnections = ReturnType<typeof createMcpConnections>;

/** Creates connections to MCP servers. Servers are started and connected on first use. */
export function createMcpConnections(settings: McpConnectionsSettings) {
  const never = new AbortController().signal;
  const log = limitLog(settings.log ?? (() => {}));
  const identity = settings.identity ?? { name: "code-execution-mcp", version: "0" };
  const oauth = createOAuth(settings, identity.name);
  const byName = new Map(settings.servers.map((server) => [server.name, server]));
  const clients = new Map<string, ServerClient>();
  for (const [name, server] of byName) {
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
  return {
    /** The servers' names, in the order of the settings. */
    servers: [...clients.keys()] as readonly string[],
    /** The state of each connection. Does not connect. */
    status: (): ServerStatus[] => [...clients.values()].map((client) => client.status()),
    /**
     * Connects to all enabled servers concurrently, lists their tools, and returns the resulting states.
     *
     * @param options - `only` names the only server to connect to.
     */
    check({ signal = never, only }: { signal?: AbortSignal | undefined; only?: string | undefined } = {}) {
      const checked = [...clients].filter(([name]) => only === undefined || name === only);
      return Promise.all(checked.map(([, client]) => checkServer(client, signal)));
    },
    /**
     * Lists the tools of a server. The list is cached until the server reports a change.
     *
     * @param options - `refresh` fetches the list again in any case.
     * @throws CemError `SERVER_DOWN`, `AUTH_REQUIRED`, `SERVER_DISABLED`, `SERVER_CLOSED`, `SERVER_NOT_FOUND`,
     *   `TOOL_TIMEOUT` or `PROTOCOL_ERROR`.
     */
    listTools: async (
      server: string,
      options: { signal?: AbortSignal | undefined; refresh?: boolean | undefined } = {},
    ) => find(server).listTools(options.signal ?? never, options.refresh),
    /** The last list of a server's tools, also while the server is down. Absent if they were never listed. */
    knownTools: (server: string) => find(server).knownTools(),
    /** The last list of a server's tools, unless it may have changed since. */
    currentTools: (server: string) => find(server).currentTools(),
    /**
     * Calls a tool without checking its arguments.
     *
     * @throws CemError with the codes of `listTools`, or `ABORTED`.
     */
    callTool: async (server: string, tool: string, args: JsonObject, options: CallOptions) =>
      await find(server).callTool(tool, args, options),
    /** Lists all resources, resource templates or prompts of a server. Empty if the server has none. */
    list: async (server: string, kind: ListKind, options: Partial<CallOptions> = {}): Promise<ListedItems> =>
      find(server).request(LIST_METHODS[kind], { signal: never, ...options }, async ({ client }, running) => {
        const capability = kind === "prompts" ? kind : "resources";
        if (client.getServerCapabilities()?.[capability] === undefined) return { items: [] };
        const { items, cut } = await fetchRawList(client, LIST_METHODS[kind], running);
        return { items, cut };
      }),
    /** Reads a resource, renders a prompt or completes an argument of one. A server without completion returns no values. */
    async request(server: string, request: ServerRequest, options: CallOptions): Promise<JsonObject> {
      const { method, params } = request;
      const found = find(server);
      if (method === "resources/unsubscribe") {
        await found.unsubscribe(params.uri, options);
        return {};
      }
      return found.request(method, options, async (opened, { signal, onProgress }) => {
        const { client } = opened;
        const isCompletion = method === "completion/complete";
        if (isCompletion && client.getServerCapabilities()?.completions === undefined)
          return { completion: { values: [] } };
        const sdkOptions = { signal, timeout: MAX_TIMER_MS, onprogress: onProgress };
        const result = await client.request(request, ANY_RESULT, sdkOptions);
        if (method === "resources/subscribe") found.noteSubscribed(opened, params.uri, options.session);
        return result as JsonObject;
      });
    },
    /**
     * Signs in to a server through the browser and stores the tokens.
     *
     * @throws CemError `AUTH_FAILED`, or `SERVER_NOT_FOUND`.
     */
    async authorize(server: string, options: AuthorizeOptions) {
      const client = find(server);
      await oauth.authorize(byName.get(server) as McpServerSettings, options);
      client.reset();
    },
    /** Ends all calls, connections and server processes. May be called more than once. */
    async close() {
      await Promise.all([...clients.values()].map((client) => client.close()));
    },
  };
}

/** A successful handshake is not enough: a server that can't list its tools is not ready. */
async function checkServer(client: ServerClient, signal: AbortSignal): Promise<ServerStatus> {
  if (client.status().state === "disabled") return client.status();
  client.reset();
  try {
    await client.listTools(signal, true);
    return client.status();
  } catch (error) {
    const status = client.status();
    if (status.state !== "ready") return status;
    if (CemError.isInstance(error) && error.code !== "TOOL_TIMEOUT")
      return { ...status, state: "down", lastError: toErrorInfo(error) };
    const message = "It answered the handshake, and not in time when it was asked for its tools.";
    return { ...status, state: "connecting", lastError: { code: "TOOL_TIMEOUT", message, details: {} } };
  }
}
