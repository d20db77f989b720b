import type { HideSecrets } from "@cem/bridge";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError, toErrorInfo } from "@cem/core";
import type { ErrorInfo } from "@cem/core";
import { SseError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import { abandonOnAbort } from "@cem/bridge";
import { createBackoff } from "./backoff.ts";
import { serverClosed, toServerError } from "./call-failures.ts";
import type { LogEntry, ServerState } from "./connection-types.ts";
import { openClient } from "./open-client.ts";
import type { OpenClient, OpenClientOptions } from "./open-client.ts";
import { DEFAULT_CONNECT_TIMEOUT_MS } from "./server-settings.ts";
import type { McpServerSettings } from "./server-settings.ts";
import type { SignIn } from "./sign-in.ts";

const LIST_CHANGED_DEBOUNCE_MS = 50;
const GOODBYE_TIMEOUT_MS = 1_000;

export interface LinkSettings {
  settings: McpServerSettings;
  identity: { name: string; version: string };
  capabilities: NonNullable<OpenClientOptions["clientOptions"]["capabilities"]>;
  signIn?: SignIn | undefined;
  redact: HideSecrets;
  log: (level: LogEntry["level"], message: string, source?: LogEntry["source"]) => void;
  /** Registers handlers before the handshake. */
  prepare: (client: Client) => void;
  /** The server's tools changed, or may have. */
  onToolsChanged: () => void;
}

/** The way to one server: opened when first needed, shared, and opened again after it was lost. */
export interface Link {
  readonly state: ServerState;
  readonly current: OpenClient | undefined;
  readonly lastError: ErrorInfo | undefined;
  /** Until the next try, in milliseconds. */
  readonly waitMs: number;
  /** Aborts when the link is closed for good. */
  readonly signal: AbortSignal;
  ready(signal: AbortSignal): Promise<OpenClient>;
  /** The server answered on this connection, so losing it later is no reason to wait. */
  answered(): void;
  /** A request found the server gone. The connection is kept for other requests that are under way. */
  troubled(error: CemError): void;
  /** Gives a connection up. Without an error only its session was lost, and the next use opens a new one. */
  giveUp(open: OpenClient, error?: CemError): void;
  /** Forgets failures, so that the next use connects at once. */
  reset(): void;
  close(): Promise<void>;
}

export function createLink(options: LinkSettings): Link {
  const { settings, redact, log, onToolsChanged } = options;
  const { name } = settings;
  const details = { server: name };
  const connectTimeoutMs = settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const backoff = createBackoff();
  const closing = new AbortController();
  let state: ServerState = settings.enabled === false ? "disabled" : "idle";
  let current: OpenClient | undefined;
  let opening: Promise<OpenClient> | undefined;
  let hasAnswered = false;
  let lastError: ErrorInfo | undefined;

  const assertUsable = (): void => {
    if (state === "disabled") {
      throw new CemError(
        "SERVER_DISABLED",
        `Server "${name}" is switched off. Set enabled: true to use it.`,
        { details },
      );
    }
    if (closing.signal.aborted) throw serverClosed(name);
  };

  const noteFailure = (error: CemError, mayRetryAtOnce: boolean): void => {
    lastError = toErrorInfo(error);
    state = error.code === "AUTH_REQUIRED" ? "auth-required" : "down";
    if (!mayRetryAtOnce && state === "down") backoff.failed();
    log("warn", error.message);
  };

  const giveUp: Link["giveUp"] = (open, error) => {
    if (current !== open) return;
    current = undefined;
    onToolsChanged();
    void open.client.close().catch(() => {});
    if (closing.signal.aborted) return;
    state = "idle";
    if (error !== undefined) noteFailure(error, hasAnswered);
  };

  const watch = (opened: OpenClient): void => {
    const { client } = opened;
    const lose = (): void => {
      const exit = opened.process?.describeExit() ?? "the connection was lost";
      giveUp(opened, new CemError("SERVER_DOWN", redact(`Server "${name}" is down: ${exit}.`), { details }));
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
            tools: { autoRefresh: false, debounceMs: LIST_CHANGED_DEBOUNCE_MS, onChanged: onToolsChanged },
          },
        },
        signal: AbortSignal.any([late, closing.signal]),
        timeoutMs: connectTimeoutMs,
        onStderr: (line) => log("info", line, "stderr"),
        prepare: options.prepare,
      });
      hasAnswered = false;
      current = opened;
      state = "ready";
      lastError = undefined;
      backoff.succeeded();
      watch(opened);
      // From here on changes may be missed.
      void opened.client.autoOpenedSubscription?.closed.then(onToolsChanged);
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
    get lastError() {
      return lastError;
    },
    get waitMs() {
      return backoff.waitMs;
    },
    signal: closing.signal,
    async ready(signal) {
      assertUsable();
      // It may have ended before anybody could be told.
      if (current !== undefined && current.client.transport === undefined) giveUp(current);
      if (current !== undefined) return current;
      if (opening === undefined) {
        const { waitMs } = backoff;
        if (waitMs > 0 && lastError !== undefined) {
          throw new CemError(lastError.code, `${lastError.message} The next try is in ${waitMs} ms.`, {
            details: { ...lastError.details, retryInMs: waitMs },
          });
        }
        opening = open().finally(() => (opening = undefined));
        opening.catch(() => {});
      }
      return abandonOnAbort(opening, signal);
    },
    answered() {
      hasAnswered = true;
      if (state === "down") state = "ready";
    },
    troubled: (error) => noteFailure(error, true),
    giveUp,
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
      if (closed !== undefined) await sayGoodbye(closed.client);
    },
  };
}

/** A server with sessions frees what it holds when it is told that this one has ended. */
async function sayGoodbye(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const told = transport.terminateSession().catch(() => {});
    await Promise.race([told, sleep(GOODBYE_TIMEOUT_MS, undefined, { ref: false })]);
  }
  await client.close().catch(() => {});
}
