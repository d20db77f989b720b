import type { KnownTool } from "@cem/bridge";
import { abandonOnAbort, callAborted, copyBeginning, Shares, type JsonObject } from "@cem/core";
import { isNamedAsChange } from "@cem/core/text";
import { createRedact } from "../settings/secret-values.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import { serverClosed, toServerError } from "../transport/call-failures.ts";
import { createConnectionPool } from "./connection-pool.ts";
import type { CallOptions, LogEntry, RawToolResult, ServerStatus, ToolList } from "./connection-types.ts";
import { createConnection, type Connection, type ConnectionContext, type Run } from "./connection.ts";
import { ConnectionHealth } from "./open-client.ts";
import { createSubscriptions } from "./subscriptions.ts";
import { callTool } from "./tool-call.ts";
import type { RemoteTool } from "./tool-definitions.ts";
import { findStatefulTools, fetchToolList } from "./tool-list.ts";

const MAX_LOG_CHARACTERS = 4_000;

/** Settings shared by the clients of all servers, and the events of this one. */
interface ServerClientContext extends Pick<
  ConnectionContext,
  "identity" | "elicit" | "signIn" | "onContentsChanged"
> {
  log: (entry: LogEntry) => void;
  /** Called when the tools were listed again because they may have changed: at once if the server reports it. */
  onToolsListed?: ((list: ToolList) => void) | undefined;
}

/** The client of one server, with as many connections as its callers need. */
export type ServerClient = ReturnType<typeof createServerClient>;

/** Creates the client of one server. Connects on first use. */
export function createServerClient(settings: McpServerSettings, context: ServerClientContext) {
  const { name } = settings;
  const { identity, elicit, signIn, onToolsListed, onContentsChanged } = context;
  const redact = createRedact(settings, () => signIn?.secrets() ?? []);
  const limit = new Shares(settings.concurrency ?? Infinity);
  const log: ConnectionContext["log"] = (level, message, source = "client") =>
    context.log({ server: name, level, source, message: copyBeginning(redact(message), MAX_LOG_CHARACTERS) });
  const health = new ConnectionHealth();
  const closing = new AbortController();
  let tools: ToolList | undefined;
  let statefulTools: string[] | undefined;
  let toolsAreStale = true;
  let listing: Promise<ToolList> | undefined;
  let latencyMs: number | undefined;
  /** The connection that reported the change of tools. */
  let changed: Connection | undefined;

  const pool = createConnectionPool(
    settings,
    () => {
      const onToolsChanged = (isTold: boolean): void => {
        toolsAreStale = true;
        if (!isTold) return;
        changed = connection;
        if (onToolsListed !== undefined) listTools(closing.signal).catch(() => {});
      };
      const shared = { identity, health, redact, log, elicit, signIn };
      const connection = createConnection(settings, { ...shared, onToolsChanged, onContentsChanged });
      return connection;
    },
    (message) => log("debug", message),
  );

  const subscriptions = createSubscriptions(
    () => pool.connections.flatMap(({ current }) => current ?? []),
    (uri) => onContentsChanged({ kind: "resources", uri }),
  );

  /** Awaits work until the signal aborts, and converts its errors. */
  const settle = async <T>(operation: string, signal: AbortSignal, work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (thrown) {
      if (closing.signal.aborted) throw serverClosed(name);
      if (signal.aborted) throw callAborted({ server: name, tool: operation });
      throw toServerError(thrown, { server: name, redact });
    }
  };

  /**
   * Runs one request within the server's limits.
   *
   * @param operation the name of the tool or method, for errors.
   * @throws CemError `ABORTED`, `SERVER_BUSY` or as {@link Connection.send}.
   */
  const request = <T>(operation: string, options: CallOptions, run: Run<T>): Promise<T> => {
    const { signal, session } = options;
    const send = (connection: Connection): Promise<T> =>
      connection.send(options, subscriptions.renewBefore(session, run));
    const work = limit.run(name, signal, async () => {
      signal.throwIfAborted();
      return pool.use(options, signal, send);
    });
    return settle(operation, signal, work);
  };

  const list = async (): Promise<ToolList> => {
    const mayHaveChanged = tools !== undefined && toolsAreStale;
    toolsAreStale = false;
    try {
      // Exempt from the concurrency limit, since a call that holds a slot may wait for the list.
      const { signal } = closing;
      const work = pool.useAny(changed, (connection) =>
        connection.send({ signal, isList: true }, (opened, options) => fetchToolList(opened, options)),
      );
      changed = undefined;
      const fetched = await settle("tools/list", signal, work);
      ({ latencyMs } = fetched);
      const before = tools;
      tools = fetched.list;
      statefulTools = findStatefulTools(tools.tools.map((tool) => tool.name));
      for (const tool of tools.tools) tool.serial = serialOf(tool, settings);
      for (const { name, reason } of tools.leftOut) {
        const isKnown = before?.leftOut.some((other) => other.name === name && other.reason === reason);
        if (isKnown !== true) log("warn", `Tool "${name}" is left out: ${reason}.`);
      }
      if (tools.cut !== undefined) log("warn", `The list of tools is not complete: ${tools.cut}.`);
      if (mayHaveChanged) onToolsListed?.(tools);
      return tools;
    } catch (error) {
      toolsAreStale = true;
      throw error;
    }
  };

  const listTools = async (signal: AbortSignal, refresh = false): Promise<ToolList> => {
    if (closing.signal.aborted) throw serverClosed(name);
    if (tools !== undefined && !toolsAreStale && !refresh) return tools;
    if (listing === undefined) {
      listing = list().finally(() => (listing = undefined));
      listing.catch(() => {});
    }
    return abandonOnAbort(listing, signal);
  };

  return {
    /** The state of the server, as its connection shows it. */
    status(): ServerStatus {
      const { connections } = pool;
      const shown = connections.find(({ state }) => state === "ready") ?? connections[0];
      const { state = "idle", current, isStateless = false } = shown ?? {};
      const { transport, connections: sharing = "auto" } = settings;
      const server = current?.client.getServerVersion() ?? tools?.server;
      return {
        name,
        state,
        transport: current?.transportKind ?? transport.kind,
        protocol: current?.client.getNegotiatedProtocolVersion() ?? tools?.protocol,
        server: server && { name: server.name, version: server.version },
        toolCount: tools?.tools.length,
        leftOutCount: tools?.leftOut.length,
        latencyMs,
        sharing: isStateless ? "stateless" : sharing === "auto" ? "session" : sharing,
        statefulTools,
        lastError: health.lastError,
        retryInMs: health.waitMs === 0 ? undefined : health.waitMs,
        pid: current?.process?.pid ?? undefined,
      };
    },
    /** The last list of tools, also while the server is down. */
    knownTools: () => tools,
    /** The last list, unless it may have changed since. */
    currentTools: () => (toolsAreStale ? undefined : tools),
    listTools,
    request,
    callTool: (tool: string, args: JsonObject, options: CallOptions): Promise<RawToolResult> =>
      request(tool, options, async (opened, { signal, onProgress, call }) => {
        const result = await callTool(opened, tool, args, {
          signal,
          onProgress,
          findTool: () => tools?.byName.get(tool),
          refresh: () => listTools(signal, true),
        });
        return { ...result, unansweredQuestion: call.unansweredQuestion };
      }),
    /** Notes a subscription to a resource, which is renewed on new connections. */
    noteSubscribed: subscriptions.add,
    /** Ends a session's subscription to a resource. */
    unsubscribe: (uri: string, options: CallOptions): Promise<void> =>
      settle("resources/unsubscribe", options.signal, subscriptions.end(uri, options)),
    /** Ends a backoff, so that the next use connects at once. */
    reset(): void {
      for (const connection of pool.connections) connection.reset();
    },
    async close(): Promise<void> {
      closing.abort(serverClosed(name));
      await pool.close();
    },
  };
}

/**
 * The scope in which calls of a tool are serialized. Few servers expect concurrent changes. Without annotations, a tool's
 * name decides whether it makes changes. Sessions that share a server process share its queue.
 */
function serialOf(
  { name, annotations }: RemoteTool,
  { writes = "serial", transport, connections }: McpServerSettings,
): KnownTool["serial"] {
  if (writes === "parallel") return undefined;
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  // A tool named just `add` is arithmetic.
  const isNamed = name !== "add" && isNamedAsChange(name);
  const mayChange = readOnlyHint === undefined ? destructiveHint === true || isNamed : !readOnlyHint;
  if (!mayChange) return undefined;
  return transport.kind === "stdio" && connections === "shared" ? "server" : "session";
}
