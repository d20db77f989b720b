import { CemError } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { nearest } from "@cem/text";
import { createConnection } from "./connection.ts";
import type { Connection } from "./connection.ts";
import type {
  CallOptions,
  LogEntry,
  RawToolResult,
  Root,
  ServerStatus,
  ToolList,
} from "./connection-types.ts";
import type { Elicit } from "@cem/core";
import { createOAuth } from "./oauth.ts";
import type { AuthorizeOptions } from "./oauth.ts";
import { listItems, runRequest } from "./resources-and-prompts.ts";
import type { ListedItems, ListKind, ServerRequest } from "./resources-and-prompts.ts";
import type { McpServerSettings } from "./server-settings.ts";

export interface McpConnectionsSettings {
  servers: readonly McpServerSettings[];
  /** Takes what servers write to stderr, and what goes wrong. Secrets are taken out. */
  log?: ((entry: LogEntry) => void) | undefined;
  /** Answers servers that ask the user something. Absent: such questions are declined. */
  elicit?: Elicit | undefined;
  /** Folders that servers are told about. Absent: servers are not told that we have any. */
  roots?: readonly Root[] | undefined;
  /** Folder of the stored sign-ins. Absent: they last as long as this object. */
  authFolder?: string | undefined;
  /** What servers are told about us. Default: `{ name: "code-execution-mcp", version: "0" }`. */
  identity?: { name: string; version: string } | undefined;
}

interface WithSignal {
  signal?: AbortSignal | undefined;
}

/** Connections to MCP servers: each opened on first use, none in the way of another. */
export interface McpConnections {
  /** The names, in the order of the settings. */
  readonly servers: readonly string[];
  status(): ServerStatus[];
  /** Tries every server that is not switched off, all at once, and lists its tools. */
  check(options?: WithSignal): Promise<ServerStatus[]>;
  /** @throws CemError `SERVER_DOWN`, `AUTH_REQUIRED`, `SERVER_DISABLED`, `SERVER_NOT_FOUND` or `PROTOCOL_ERROR`. */
  listTools(server: string, options?: WithSignal & { refresh?: boolean | undefined }): Promise<ToolList>;
  /** The last list of a server, also when it is down now. */
  knownTools(server: string): ToolList | undefined;
  /** Calls a tool without checking its arguments; see `createMcpInvoker` for the checked way. */
  callTool(server: string, tool: string, args: JsonObject, options: CallOptions): Promise<RawToolResult>;
  /** Lists resources, resource templates or prompts, all pages of them, as the server describes them. */
  list(server: string, kind: ListKind, options?: WithSignal): Promise<ListedItems>;
  /** Reads a resource or renders a prompt. */
  request(server: string, request: ServerRequest, options: CallOptions): Promise<JsonObject>;
  /** Signs in to a server through the browser, and stores the sign-in. */
  authorize(server: string, options: AuthorizeOptions): Promise<void>;
  /** Forgets a stored sign-in. */
  forgetAuthorization(server: string): Promise<void>;
  /** Told when a server's tools changed, or may have. Returns how to stop listening. */
  onToolsChanged(listener: (server: string) => void): () => void;
  /** Ends every call, connection and server process. Safe to call twice. */
  close(): Promise<void>;
}

/** Makes connections to servers; nothing is started before it is needed. */
export function createMcpConnections(settings: McpConnectionsSettings): McpConnections {
  const listeners = new Set<(server: string) => void>();
  const log = settings.log ?? (() => {});
  const identity = settings.identity ?? { name: "code-execution-mcp", version: "0" };
  const oauth = createOAuth({ folder: settings.authFolder, clientName: identity.name });
  const connections = new Map<string, Connection>();
  const byName = new Map<string, McpServerSettings>();
  for (const server of settings.servers) {
    byName.set(server.name, server);
    connections.set(
      server.name,
      createConnection(server, {
        identity,
        log,
        elicit: settings.elicit,
        roots: settings.roots,
        signIn: oauth.signInFor(server),
        onToolsChanged() {
          for (const listener of listeners) listener(server.name);
        },
      }),
    );
  }

  const find = (name: string): Connection => {
    const connection = connections.get(name);
    if (connection !== undefined) return connection;
    throw unknownServer(name, [...connections.keys()]);
  };
  const status = (): ServerStatus[] => [...connections.values()].map((connection) => connection.status());
  const never = new AbortController().signal;

  return {
    servers: [...connections.keys()],
    status,
    async check({ signal = never } = {}) {
      const enabled = [...connections.values()].filter(
        (connection) => connection.status().state !== "disabled",
      );
      for (const connection of enabled) connection.reset();
      await Promise.allSettled(enabled.map((connection) => connection.listTools({ signal, refresh: true })));
      return status();
    },
    listTools: async (server, { signal = never, refresh } = {}) =>
      find(server).listTools({ signal, refresh }),
    knownTools: (server) => find(server).knownTools(),
    callTool: async (server, tool, args, options) => find(server).callTool(tool, args, options),
    list: async (server, kind, { signal = never } = {}) => listItems(find(server), kind, signal),
    request: async (server, request, options) => runRequest(find(server), request, options),
    async authorize(server, options) {
      const connection = find(server);
      await oauth.authorize(byName.get(server) as McpServerSettings, options);
      connection.reset();
    },
    async forgetAuthorization(server) {
      find(server);
      await oauth.forget(byName.get(server) as McpServerSettings);
    },
    onToolsChanged(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      await Promise.all([...connections.values()].map((connection) => connection.close()));
    },
  };
}

function unknownServer(name: string, known: string[]): CemError {
  const [near] = nearest(name, known);
  const hint =
    known.length === 0
      ? "No MCP server is configured."
      : near === undefined
        ? `There are: ${known.join(", ")}.`
        : `Did you mean "${near}"?`;
  return new CemError("SERVER_NOT_FOUND", `There is no server "${name}". ${hint}`, {
    details: { server: name, known },
  });
}
