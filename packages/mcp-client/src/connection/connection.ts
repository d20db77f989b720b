import { createDeadline } from "@cem/bridge";
import type { HideSecrets } from "@cem/bridge";
import { CemError } from "@cem/core";
import type { Elicit } from "@cem/core";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import type { SignIn } from "../oauth/sign-in.ts";
import { DEFAULT_TIMEOUT_MS } from "../settings/server-settings.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import {
  isConnectionLoss,
  isSessionLost,
  serverClosed,
  SessionLost,
  toServerError,
} from "../transport/call-failures.ts";
import { createRunningCalls, currentCall } from "../transport/running-calls.ts";
import type { CallInFlight } from "../transport/running-calls.ts";
import { answerSampling, createElicitationHandler } from "./client-handlers.ts";
import type { ConnectionHealth } from "./connection-health.ts";
import type { CallOptions, ServerState } from "./connection-types.ts";
import type { OpenClient } from "./open-client.ts";
import { createReconnectingClient } from "./reconnecting-client.ts";
import type { ReconnectingClientOptions } from "./reconnecting-client.ts";

/** Progress notifications restart a call's timeout, up to this many timeouts in all. */
const MAX_TIMEOUTS_PER_CALL = 10;
/** The reason that servers get for a request that is cancelled, whoever cancelled it with whatever words. */
const NO_LONGER_WANTED = "The answer is no longer wanted.";

/** Options of one request. */
interface RequestOptions extends CallOptions, Pick<CallInFlight, "isList"> {}

/** Settings that the connections to one server share. */
export interface ConnectionContext {
  /** The name and version this client gives itself. */
  identity: ReconnectingClientOptions["identity"];
  health: ConnectionHealth;
  redact: HideSecrets;
  log: ReconnectingClientOptions["log"];
  elicit?: Elicit | undefined;
  signIn?: SignIn | undefined;
}

/** One connection to a server, opened on first use and again after it was lost. */
export interface Connection {
  readonly state: ServerState;
  readonly current: OpenClient | undefined;
  /** Whether the server keeps nothing of a client between two calls on it, as far as the protocol tells. */
  readonly isStateless: boolean;
  /** Connects, unless it is connected. @throws CemError as {@link Connection.run}. */
  open(signal: AbortSignal): Promise<void>;
  /**
   * Sends a request, within the timeout. One whose session was lost is repeated once in a new session, since the server
   * did not carry it out.
   *
   * @throws CemError `TOOL_TIMEOUT`, `SERVER_DOWN`, `SERVER_CLOSED`, `SERVER_DISABLED`, `AUTH_REQUIRED` or
   *   `PROTOCOL_ERROR`; the signal's reason.
   */
  run<T>(options: RequestOptions, run: Run<T>): Promise<T>;
  /** Ends a backoff, so that the next use connects at once. */
  reset(): void;
  close(): Promise<void>;
}

/** The options of one attempt of a request. */
export interface RunOptions {
  /** Aborts when the request's timeout is over or it was cancelled. */
  signal: AbortSignal;
  /** Restarts the timeout. */
  onProgress: NonNullable<CallOptions["onProgress"]>;
  call: CallInFlight;
}

/** Sends a request on an open connection. */
export type Run<T> = (open: OpenClient, options: RunOptions) => Promise<T>;

/** Creates a connection to a server. */
export function createConnection(
  settings: McpServerSettings,
  context: ConnectionContext,
  changes: Pick<ReconnectingClientOptions, "onToolsChanged" | "onContentsChanged">,
): Connection {
  const { name } = settings;
  const { identity, health, redact, log, signIn } = context;
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const calls = createRunningCalls();
  const elicitation = createElicitationHandler(name, { calls, elicit: context.elicit, log });

  const prepare = (client: Client): void => {
    elicitation(client);
    answerSampling(client, name, calls);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
    client.onerror = (error) => log("debug", error.message);
    client.setNotificationHandler("notifications/message", ({ params }) => {
      log("info", `${params.level}: ${JSON.stringify(params.data)}`, "protocol");
    });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      changes.onContentsChanged({ kind: "resources", uri: params.uri });
    });
    // Servers take none as no restriction of their own folders.
    client.setRequestHandler("roots/list", () => ({ roots: [] }));
  };

  const reconnecting = createReconnectingClient({
    settings,
    identity,
    capabilities: { elicitation: { form: { applyDefaults: true }, url: {} }, sampling: {}, roots: {} },
    health,
    signIn,
    redact,
    log,
    prepare,
    ...changes,
  });

  const attempt = async <T>(options: RequestOptions, run: Run<T>): Promise<T> => {
    const opened = await reconnecting.acquire(options.signal);
    const maxMs = timeoutMs * MAX_TIMEOUTS_PER_CALL;
    const deadline = createDeadline(timeoutMs, maxMs, options.signal, NO_LONGER_WANTED);
    const { onWaiting, elicit, sample, session, isList } = options;
    const call: CallInFlight = { deadline, onWaiting, elicit, sample, session, isList };
    const onProgress: RunOptions["onProgress"] = (progress) => {
      deadline.restart();
      options.onProgress?.(progress);
    };
    calls.begin(call);
    try {
      const running = { signal: deadline.signal, onProgress, call };
      const result = await currentCall.run(call, () => run(opened, running));
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
      if (typeof requiredScope === "string") await signIn?.requireScope(requiredScope);
      if (isLost && opened.transportKind === "http") reconnecting.reportFailure(error);
      else if (isLost || error.code === "AUTH_REQUIRED") reconnecting.discard(opened, error);
      throw error;
    } finally {
      calls.end(call);
      deadline.dispose();
    }
  };

  return {
    get state() {
      return reconnecting.state;
    },
    get current() {
      return reconnecting.current;
    },
    get isStateless() {
      return reconnecting.current !== undefined && isStateless(reconnecting.current);
    },
    async open(signal) {
      await reconnecting.acquire(signal);
    },
    async run(options, run) {
      try {
        return await attempt(options, run);
      } catch (error) {
        if (!(error instanceof SessionLost)) throw error;
        return attempt(options, run);
      }
    },
    reset: () => reconnecting.reset(),
    close: () => reconnecting.close(),
  };
}

/** Protocol 2026-07-28 has no sessions. Before it, an HTTP server that keeps state gives its clients a session. */
function isStateless({ client, transportKind }: OpenClient): boolean {
  if (client.getProtocolEra() === "modern") return true;
  const { transport } = client;
  if (!(transport instanceof StreamableHTTPClientTransport)) return false;
  return transportKind === "http" && transport.sessionId === undefined;
}
