import { createDeadline } from "@cem/bridge";
import { abandonOnAbort, callAborted, CemError, copyBeginning } from "@cem/core";
import type { Elicit, JsonObject } from "@cem/core";
import type { Client } from "@modelcontextprotocol/client";
import pLimit from "p-limit";
import {
  isConnectionLoss,
  isSessionLost,
  serverClosed,
  SessionLost,
  toServerError,
} from "./call-failures.ts";
import type {
  CallOptions,
  LogEntry,
  RawToolResult,
  Root,
  ServerStatus,
  ToolList,
} from "./connection-types.ts";
import { createElicitationHandler } from "./elicitation-handler.ts";
import type { CallInFlight } from "./elicitation-handler.ts";
import type { OpenClient } from "./open-client.ts";
import { createReconnectingClient } from "./reconnecting-client.ts";
import type { ReconnectingClientOptions } from "./reconnecting-client.ts";
import { createRedact } from "./redaction.ts";
import { serialOf } from "./serial-calls.ts";
import { DEFAULT_TIMEOUT_MS } from "./server-settings.ts";
import type { McpServerSettings } from "./server-settings.ts";
import { statusOf } from "./server-status.ts";
import type { SignIn } from "./sign-in.ts";
import { callTool } from "./tool-call.ts";
import { fetchToolList } from "./tool-list.ts";

/** Progress notifications restart a call's timeout, up to this many timeouts in all. */
const MAX_TIMEOUTS_PER_CALL = 10;
const MAX_LOG_CHARACTERS = 4_000;

/** What a connection shares with the others. */
export interface ConnectionContext {
  /** The name and version this client gives itself. */
  identity: ReconnectingClientOptions["identity"];
  log: (entry: LogEntry) => void;
  elicit?: Elicit | undefined;
  roots?: readonly Root[] | undefined;
  signIn?: SignIn | undefined;
  onToolsChanged: () => void;
}

/** The connection to one server, within its limits on time and concurrency. */
export interface Connection {
  status(): ServerStatus;
  /** The last list of tools, also while the server is down. */
  knownTools(): ToolList | undefined;
  listTools(options: { signal: AbortSignal; refresh?: boolean | undefined }): Promise<ToolList>;
  callTool(tool: string, args: JsonObject, options: CallOptions): Promise<RawToolResult>;
  /**
   * Runs one request within the server's limits.
   *
   * @param operation the name of the tool or method, for errors.
   * @throws CemError `ABORTED`, `TOOL_TIMEOUT`, `SERVER_DOWN`, `SERVER_CLOSED`, `SERVER_DISABLED`, `AUTH_REQUIRED` or
   *   `PROTOCOL_ERROR`.
   */
  request<T>(operation: string, options: CallOptions, run: Run<T>): Promise<T>;
  /** Ends a backoff, so that the next use connects at once. */
  reset(): void;
  close(): Promise<void>;
}

/** What a request gets for one attempt. */
export interface RunOptions {
  /** Aborts when the request's timeout is over or it was cancelled. */
  signal: AbortSignal;
  /** Restarts the timeout. */
  onProgress: NonNullable<CallOptions["onProgress"]>;
  call: CallInFlight;
}

/** Sends a request on an open connection. */
export type Run<T> = (open: OpenClient, options: RunOptions) => Promise<T>;

/** Creates the connection to one server; it is opened on first use. */
export function createConnection(settings: McpServerSettings, context: ConnectionContext): Connection {
  const { name } = settings;
  const redact = createRedact(settings, () => context.signIn?.secrets() ?? []);
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const limit = pLimit(settings.concurrency ?? Infinity);
  const log: ReconnectingClientOptions["log"] = (level, message, source = "client") =>
    context.log({ server: name, level, source, message: copyBeginning(redact(message), MAX_LOG_CHARACTERS) });
  const elicitation = createElicitationHandler(name, context.elicit, log);
  let tools: ToolList | undefined;
  let toolsAreStale = true;
  let listing: Promise<ToolList> | undefined;
  let latencyMs: number | undefined;

  const prepare = (client: Client): void => {
    elicitation.register(client);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
    client.onerror = (error) => log("debug", error.message);
    client.setNotificationHandler("notifications/message", ({ params }) => {
      log("info", `${params.level}: ${JSON.stringify(params.data)}`, "protocol");
    });
    const { roots } = context;
    if (roots !== undefined) client.setRequestHandler("roots/list", () => ({ roots: [...roots] }));
  };

  const reconnecting = createReconnectingClient({
    settings,
    identity: context.identity,
    capabilities: {
      elicitation: { form: { applyDefaults: true }, url: {} },
      roots: context.roots && {},
    },
    signIn: context.signIn,
    redact,
    log,
    prepare,
    onToolsChanged() {
      toolsAreStale = true;
      context.onToolsChanged();
    },
  });

  const attempt = async <T>(options: CallOptions, run: Run<T>): Promise<T> => {
    const opened = await reconnecting.acquire(options.signal);
    const deadline = createDeadline(timeoutMs, timeoutMs * MAX_TIMEOUTS_PER_CALL, options.signal);
    const { onWaiting, elicit, session } = options;
    const call: CallInFlight = { deadline, onWaiting, elicit, session };
    const onProgress: RunOptions["onProgress"] = (progress) => {
      deadline.restart();
      options.onProgress?.(progress);
    };
    elicitation.begin(call);
    try {
      const result = await run(opened, { signal: deadline.signal, onProgress, call });
      reconnecting.reportSuccess();
      return result;
    } catch (thrown) {
      if (options.signal.aborted) throw thrown;
      if (reconnecting.signal.aborted) throw serverClosed(name);
      if (deadline.expired) {
        throw new CemError("TOOL_TIMEOUT", `Server "${name}" did not answer within ${timeoutMs} ms.`, {
          details: { server: name, timeoutMs },
        });
      }
      if (isSessionLost(thrown, opened.client)) {
        reconnecting.discard(opened);
        throw new SessionLost(thrown);
      }
      const isLost = isConnectionLoss(thrown);
      if (isLost) await opened.process?.waitForExit();
      const error = toServerError(thrown, { server: name, redact, exit: opened.process?.describeExit() });
      const { requiredScope } = error.details;
      if (typeof requiredScope === "string") await context.signIn?.requireScope(requiredScope);
      if (isLost && opened.transportKind === "http") reconnecting.reportFailure(error);
      else if (isLost || error.code === "AUTH_REQUIRED") reconnecting.discard(opened, error);
      throw error;
    } finally {
      elicitation.end(call);
      deadline.dispose();
    }
  };

  /** Repeats a request once in a new session when its session was lost, since the server did not carry it out. */
  const attemptInValidSession = async <T>(options: CallOptions, run: Run<T>): Promise<T> => {
    try {
      return await attempt(options, run);
    } catch (error) {
      if (!(error instanceof SessionLost)) throw error;
      return attempt(options, run);
    }
  };

  /** Waits for the work until the signal aborts, and converts what it throws. */
  const settle = async <T>(operation: string, signal: AbortSignal, work: Promise<T>): Promise<T> => {
    try {
      return await abandonOnAbort(work, signal);
    } catch (thrown) {
      work.catch(() => {});
      if (reconnecting.signal.aborted) throw serverClosed(name);
      if (signal.aborted) throw callAborted({ server: name, tool: operation });
      throw toServerError(thrown instanceof SessionLost ? thrown.cause : thrown, { server: name, redact });
    }
  };

  const request: Connection["request"] = (operation, options, run) =>
    settle(
      operation,
      options.signal,
      limit(async () => {
        options.signal.throwIfAborted();
        return attemptInValidSession(options, run);
      }),
    );

  const list = async (): Promise<ToolList> => {
    toolsAreStale = false;
    try {
      // Not counted by the concurrency limit: a call that is counted may wait for the list.
      const { signal } = reconnecting;
      const work = attemptInValidSession({ signal }, (opened, options) => fetchToolList(opened, options));
      const fetched = await settle("tools/list", signal, work);
      ({ latencyMs } = fetched);
      tools = fetched.list;
      for (const tool of tools.tools) tool.serial = serialOf(tool, settings);
      for (const { name, reason } of tools.leftOut) log("warn", `Tool "${name}" is left out: ${reason}.`);
      if (tools.cut !== undefined) log("warn", `The list of tools is not complete: ${tools.cut}.`);
      return tools;
    } catch (error) {
      toolsAreStale = true;
      throw error;
    }
  };

  const listTools: Connection["listTools"] = async ({ signal, refresh }) => {
    if (reconnecting.signal.aborted) throw serverClosed(name);
    if (tools !== undefined && !toolsAreStale && refresh !== true) return tools;
    if (listing === undefined) {
      listing = list().finally(() => (listing = undefined));
      listing.catch(() => {});
    }
    return abandonOnAbort(listing, signal);
  };

  return {
    status: () => statusOf(settings, reconnecting, tools, latencyMs),
    knownTools: () => tools,
    listTools,
    request,
    callTool: (tool, args, options) =>
      request(tool, options, async (opened, { signal, onProgress, call }) => {
        const result = await callTool(opened, tool, args, {
          signal,
          onProgress,
          findTool: () => tools?.byName.get(tool),
          async refresh() {
            await listTools({ signal, refresh: true });
          },
        });
        return { ...result, unansweredQuestion: call.unansweredQuestion };
      }),
    reset: () => reconnecting.reset(),
    close: () => reconnecting.close(),
  };
}
