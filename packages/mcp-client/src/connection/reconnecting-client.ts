import type { HideSecrets } from "@cem/bridge";
import { abandonOnAbort, CemError, serverDisabled, toErrorInfo } from "@cem/core";
import { SseError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import type { SignIn } from "../oauth/sign-in.ts";
import { DEFAULT_CONNECT_TIMEOUT_MS } from "../settings/server-settings.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import { serverClosed, toServerError } from "../transport/call-failures.ts";
import type { ConnectionHealth } from "./connection-health.ts";
import type { ContentChange, LogEntry, ServerState } from "./connection-types.ts";
import { openClient } from "./open-client.ts";
import type { OpenClient, OpenClientOptions } from "./open-client.ts";

const LIST_CHANGED_DEBOUNCE_MS = 50;
const TERMINATE_TIMEOUT_MS = 1_000;

/** Options of {@link createReconnectingClient}. */
export interface ReconnectingClientOptions {
  settings: McpServerSettings;
  /** The name and version this client gives itself. */
  identity: { name: string; version: string };
  capabilities: NonNullable<OpenClientOptions["clientOptions"]["capabilities"]>;
  signIn?: SignIn | undefined;
  health: ConnectionHealth;
  redact: HideSecrets;
  log: (level: LogEntry["level"], message: string, source?: LogEntry["source"]) => void;
  /** Registers handlers at a new client before the handshake. */
  prepare: (client: Client) => void;
  /** Called when the server said that its tools changed (`isTold`), or when they may have changed. */
  onToolsChanged: (isTold: boolean) => void;
  /** Called when the server said that its resources or prompts, or a resource that is watched, changed. */
  onContentsChanged: (change: ContentChange) => void;
}

/** A client for one server: connected on first use, and connected again after it was lost. */
export interface ReconnectingClient {
  readonly state: ServerState;
  readonly current: OpenClient | undefined;
  /** Aborts when the client is closed for good. */
  readonly signal: AbortSignal;
  /**
   * The open connection, or a new one.
   *
   * @throws CemError `SERVER_DOWN`, `AUTH_REQUIRED`, `SERVER_DISABLED`, `SERVER_CLOSED` or `PROTOCOL_ERROR`.
   */
  acquire(signal: AbortSignal): Promise<OpenClient>;
  /** Records that a request succeeded. A connection that is lost after that may be reopened without a backoff. */
  reportSuccess(): void;
  /** Records that a request failed because the server is gone, and keeps the connection for other requests. */
  reportFailure(error: CemError): void;
  /** Drops a connection. Without an error only its session was lost, and the next use opens a new one at once. */
  discard(open: OpenClient, error?: CemError): void;
  /** Ends the backoff and clears the failed state, so that the next use connects at once. */
  reset(): void;
  close(): Promise<void>;
}

/** Creates the client. Nothing is started or connected before the first {@link ReconnectingClient.acquire}. */
export function createReconnectingClient(options: ReconnectingClientOptions): ReconnectingClient {
  const { settings, health, redact, log, onToolsChanged } = options;
  const { name } = settings;
  const details = { server: name };
  const connectTimeoutMs = settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const { backoff } = health;
  const closing = new AbortController();
  let state: ServerState = settings.enabled === false ? "disabled" : "idle";
  let current: OpenClient | undefined;
  let opening: Promise<OpenClient> | undefined;
  let hasAnswered = false;

  const assertUsable = (): void => {
    if (state === "disabled") {
      throw serverDisabled(name);
    }
    if (closing.signal.aborted) throw serverClosed(name);
  };

  const noteFailure = (error: CemError, mayRetryAtOnce: boolean): void => {
    health.lastError = toErrorInfo(error);
    state = error.code === "AUTH_REQUIRED" ? "auth-required" : "down";
    if (!mayRetryAtOnce && state === "down") backoff.failed();
    log("warn", error.message);
  };

  const discard: ReconnectingClient["discard"] = (open, error) => {
    if (current !== open) return;
    current = undefined;
    onToolsChanged(false);
    void open.client.close().catch(() => {});
    if (closing.signal.aborted) return;
    state = "idle";
    if (error !== undefined) noteFailure(error, hasAnswered);
  };

  const watch = (opened: OpenClient): void => {
    const { client } = opened;
    const lose = (): void => {
      const exit = opened.process?.describeExit() ?? "the connection was lost";
      discard(opened, new CemError("SERVER_DOWN", redact(`Server "${name}" is down: ${exit}.`), { details }));
    };
    const report = client.onerror;
    Object.assign(client, {
      onclose: lose,
      onerror(error: Error) {
        report?.(error);
        // The session goes with the stream, which the SDK opens again without one.
        if (opened.transportKind === "sse" && error instanceof SseError) lose();
      },
    });
  };

  const open = async (): Promise<OpenClient> => {
    state = "connecting";
    const late = AbortSignal.timeout(connectTimeoutMs);
    try {
      const opened = await openClient({
        settings,
        identity: options.identity,
        authProvider: options.signIn,
        clientOptions: {
          capabilities: options.capabilities,
          listChanged: {
            tools: {
              autoRefresh: false,
              debounceMs: LIST_CHANGED_DEBOUNCE_MS,
              onChanged: () => onToolsChanged(true),
            },
            resources: {
              autoRefresh: false,
              debounceMs: LIST_CHANGED_DEBOUNCE_MS,
              onChanged: () => options.onContentsChanged({ kind: "resources" }),
            },
            prompts: {
              autoRefresh: false,
              debounceMs: LIST_CHANGED_DEBOUNCE_MS,
              onChanged: () => options.onContentsChanged({ kind: "prompts" }),
            },
          },
        },
        signal: AbortSignal.any([late, closing.signal]),
        timeoutMs: connectTimeoutMs,
        onStderr: (line) => log("info", line, "stderr"),
        onWarning: (message) => log("warn", message),
        prepare: options.prepare,
      });
      hasAnswered = false;
      current = opened;
      state = "ready";
      health.lastError = undefined;
      backoff.succeeded();
      watch(opened);
      // Once the subscription has ended, changes may be missed.
      void opened.client.autoOpenedSubscription?.closed.then(() => onToolsChanged(false));
      return opened;
    } catch (thrown) {
      assertUsable();
      const error = late.aborted
        ? new CemError("SERVER_DOWN", `Server "${name}" did not answer within ${connectTimeoutMs} ms.`, {
            details: { ...details, timeoutMs: connectTimeoutMs },
          })
        : toServerError(thrown, { server: name, redact });
      noteFailure(error, false);
      throw error;
    }
  };

  return {
    get state() {
      return state;
    },
    get current() {
      return current;
    },
    signal: closing.signal,
    async acquire(signal) {
      assertUsable();
      // The transport may have closed before `onclose` was set.
      if (current !== undefined && current.client.transport === undefined) discard(current);
      if (current !== undefined) return current;
      if (opening === undefined) {
        const { waitMs } = backoff;
        const { lastError } = health;
        if (waitMs > 0 && lastError !== undefined) {
          throw new CemError(lastError.code, `${lastError.message} The next attempt is in ${waitMs} ms.`, {
            details: { ...lastError.details, retryInMs: waitMs },
          });
        }
        opening = open().finally(() => (opening = undefined));
        opening.catch(() => {});
      }
      return abandonOnAbort(opening, signal);
    },
    reportSuccess() {
      hasAnswered = true;
      if (state === "down") state = "ready";
    },
    reportFailure: (error) => noteFailure(error, true),
    discard,
    reset() {
      backoff.succeeded();
      if (state === "down" || state === "auth-required") state = "idle";
    },
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error(`The connection to server "${name}" was closed.`));
      state = state === "disabled" ? "disabled" : "closed";
      await opening?.catch(() => {});
      const closed = current;
      current = undefined;
      if (closed !== undefined) await endSession(closed.client);
    },
  };
}

/** Ends the session at the server, which then frees its resources, and closes the connection. */
async function endSession(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const timeout = AbortSignal.timeout(TERMINATE_TIMEOUT_MS);
    await abandonOnAbort(transport.terminateSession(), timeout).catch(() => {});
  }
  await client.close().catch(() => {});
}
