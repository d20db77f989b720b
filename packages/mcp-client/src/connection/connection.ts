import { createDeadline, type HideSecrets } from "@cem/bridge";
import { abandonOnAbort, CemError, serverDisabled, toErrorInfo, type Elicit } from "@cem/core";
import {
  InsufficientScopeError,
  SseError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Client } from "@modelcontextprotocol/client";
import type { SignIn } from "../oauth/sign-in.ts";
import { DEFAULT_CONNECT_TIMEOUT_MS, DEFAULT_TIMEOUT_MS, tokenSetting } from "../settings/server-settings.ts";
import type { McpServerSettings } from "../settings/server-settings.ts";
import {
  isConnectionLoss,
  serverClosed,
  sessionLoss,
  toServerError,
  withDoubt,
} from "../transport/call-failures.ts";
import { RunningCalls, currentCall, type CallInFlight } from "../transport/running-calls.ts";
import { answerSampling, createElicitationHandler } from "./client-handlers.ts";
import type { CallOptions, ContentChange, LogEntry, ServerState } from "./connection-types.ts";
import { openClient, type ConnectionHealth, type OpenClient } from "./open-client.ts";

/** Progress notifications restart a call's timeout, up to this many timeouts in all. */
const MAX_TIMEOUTS_PER_CALL = 10;
/** The reason sent to servers for a cancelled request, whatever the actual reason. */
const NO_LONGER_WANTED = "The answer is no longer wanted.";
const LIST_CHANGED_INTERVAL_MS = 100;
const TERMINATE_TIMEOUT_MS = 1_000;

interface RequestOptions extends CallOptions, Pick<CallInFlight, "isList"> {}

/** Settings that the connections to one server share, and events of the server. */
export interface ConnectionContext {
  /** The name and version this client gives itself. */
  identity: { name: string; version: string };
  health: ConnectionHealth;
  redact: HideSecrets;
  log: (level: LogEntry["level"], message: string, source?: LogEntry["source"]) => void;
  elicit?: Elicit | undefined;
  signIn?: SignIn | undefined;
  /** Called when the server reports that its tools changed (`isTold`), or when they may have changed. */
  onToolsChanged: (isTold: boolean) => void;
  /** Called when the server reports a change of its resources or prompts, or of a watched resource. */
  onContentsChanged: (change: ContentChange) => void;
}

/** One connection to a server, opened on first use and reopened after it was lost. */
export type Connection = ReturnType<typeof createConnection>;

/** The options of one attempt of a request. */
export interface RunOptions {
  /** Aborts when the request times out or is cancelled. */
  signal: AbortSignal;
  /** Restarts the timeout. */
  onProgress: NonNullable<CallOptions["onProgress"]>;
  call: CallInFlight;
}

export type Run<T> = (open: OpenClient, options: RunOptions) => Promise<T>;

/** Creates a connection to a server. The server is started and connected on first use. */
export function createConnection(settings: McpServerSettings, context: ConnectionContext) {
  const { identity, health, redact, log, elicit, signIn, onToolsChanged, onContentsChanged } = context;
  const { name } = settings;
  const details = { server: name };
  const facts = { server: name, redact, setting: tokenSetting(settings) };
  const timeoutMs = settings.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const connectTimeoutMs = settings.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS;
  const calls = new RunningCalls();
  const elicitation = createElicitationHandler(name, calls, elicit, log);
  const closing = new AbortController();
  let state: ServerState = settings.enabled === false ? "disabled" : "idle";
  let current: OpenClient | undefined;
  let opening: Promise<OpenClient> | undefined;
  /** Whether a request succeeded since it was opened. If so, it may be reopened without a backoff. */
  let hasAnswered = false;
  /** The last thing received that can't be used, such as a line that is not a message. */
  let oddity: { at: number; said: string } | undefined;

  const prepare = (client: Client): void => {
    elicitation(client);
    answerSampling(client, name, calls);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK has handlers only
    client.onerror = (error) => {
      log("debug", error.message);
      oddity = { at: performance.now(), said: error.message.split(":", 1).join() };
    };
    client.setNotificationHandler("notifications/message", ({ params }) => {
      log("info", `${params.level}: ${JSON.stringify(params.data)}`, "protocol");
    });
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
      onContentsChanged({ kind: "resources", uri: params.uri });
    });
    // Servers treat an empty list as no restriction of their own folders.
    client.setRequestHandler("roots/list", () => ({ roots: [] }));
  };

  const assertUsable = (): void => {
    if (state === "disabled") throw serverDisabled(name);
    if (closing.signal.aborted) throw serverClosed(name);
  };

  const noAnswer = (code: string, limitMs: number, begunAt: number): CemError => {
    const meanwhile = oddity !== undefined && oddity.at >= begunAt ? ` Meanwhile: ${oddity.said}.` : "";
    const message = redact(`Server "${name}" did not answer within ${limitMs} ms.${meanwhile}`);
    return new CemError(code, message, { details: { ...details, timeoutMs: limitMs } });
  };

  const noteFailure = (error: CemError, mayRetryAtOnce: boolean): void => {
    health.lastError = toErrorInfo(error);
    state = error.code === "AUTH_REQUIRED" ? "auth-required" : "down";
    if (!mayRetryAtOnce && state === "down") health.failed();
    log("warn", error.message);
  };

  /** Drops a connection. Without an error, only its session was lost, and the next use reconnects at once. */
  const discard = (open: OpenClient, error?: CemError): void => {
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
        // The session ends with its stream. The SDK would reopen the stream without a session.
        if (opened.transportKind === "sse" && error instanceof SseError) lose();
      },
    });
  };

  const open = async (): Promise<OpenClient> => {
    state = "connecting";
    const begunAt = performance.now();
    const late = AbortSignal.timeout(connectTimeoutMs);
    try {
      const opened = await openClient({
        settings,
        identity,
        authProvider: signIn,
        clientOptions: {
          capabilities: { elicitation: { form: { applyDefaults: true }, url: {} }, sampling: {}, roots: {} },
          listChanged: {
            tools: onListChanged(() => onToolsChanged(true)),
            resources: onListChanged(() => onContentsChanged({ kind: "resources" })),
            prompts: onListChanged(() => onContentsChanged({ kind: "prompts" })),
          },
        },
        signal: AbortSignal.any([late, closing.signal]),
        timeoutMs: connectTimeoutMs,
        onStderr: (line) => log("info", line, "stderr"),
        onWarning: (message) => log("warn", message),
        prepare,
      });
      hasAnswered = false;
      current = opened;
      state = "ready";
      health.lastError = undefined;
      health.succeeded();
      watch(opened);
      // Once the subscription has ended, changes may be missed.
      void opened.client.autoOpenedSubscription?.closed.then(() => onToolsChanged(false));
      return opened;
    } catch (thrown) {
      assertUsable();
      const error = late.aborted
        ? noAnswer("SERVER_DOWN", connectTimeoutMs, begunAt)
        : toServerError(thrown, facts);
      noteFailure(error, false);
      throw error;
    }
  };

  const acquire = (signal: AbortSignal): OpenClient | Promise<OpenClient> => {
    assertUsable();
    // The transport may have closed before `onclose` was set.
    if (current !== undefined && current.client.transport === undefined) discard(current);
    if (current !== undefined) return current;
    if (opening === undefined) {
      const { waitMs, lastError } = health;
      if (waitMs > 0 && lastError !== undefined) {
        const said = lastError.message.replace(/\.?$/, ".");
        throw new CemError(lastError.code, `${said} The next attempt is in ${waitMs} ms.`, {
          details: { ...lastError.details, retryInMs: waitMs },
        });
      }
      opening = open().finally(() => (opening = undefined));
      opening.catch(() => {});
    }
    return abandonOnAbort(opening, signal);
  };

  /**
   * Sends a request within the timeout. If its session was lost, it is retried once in a new session, since the server did
   * not execute it.
   *
   * @throws CemError `TOOL_TIMEOUT`, `SERVER_DOWN`, `SERVER_CLOSED`, `SERVER_DISABLED`, `AUTH_REQUIRED` or
   *   `PROTOCOL_ERROR`; the signal's reason.
   */
  const send = async <T>(options: RequestOptions, run: Run<T>, isRepeated = false): Promise<T> => {
    const acquired = acquire(options.signal);
    const opened = acquired instanceof Promise ? await acquired : acquired;
    const maxMs = timeoutMs * MAX_TIMEOUTS_PER_CALL;
    const deadline = createDeadline(timeoutMs, maxMs, options.signal, NO_LONGER_WANTED);
    const { onWaiting, sample, session, isList } = options;
    const call: CallInFlight = { deadline, onWaiting, elicit: options.elicit, sample, session, isList };
    const onProgress: RunOptions["onProgress"] = (progress) => {
      deadline.restart();
      options.onProgress?.(progress);
    };
    calls.begin(call);
    const begunAt = performance.now();
    try {
      const running = { signal: deadline.signal, onProgress, call };
      const result = await currentCall.run(call, () => run(opened, running));
      hasAnswered = true;
      if (current === opened) state = "ready";
      return result;
    } catch (thrown) {
      if (options.signal.aborted) throw thrown;
      if (closing.signal.aborted) throw serverClosed(name);
      if (deadline.expired) throw noAnswer("TOOL_TIMEOUT", timeoutMs, begunAt);
      const loss = sessionLoss(thrown, opened.client);
      if (loss !== undefined) discard(opened);
      if (loss?.mayRepeat !== true || isRepeated) throw await failureOf(thrown, opened, options);
    } finally {
      calls.end(call);
      deadline.dispose();
    }
    return send(options, run, true);
  };

  /** Converts the error of a request and applies its consequences to the connection. */
  const failureOf = async (thrown: unknown, opened: OpenClient, { isList }: RequestOptions) => {
    const isLost = isConnectionLoss(thrown);
    if (isLost) await opened.process?.waitForExit();
    const error = toServerError(thrown, { ...facts, exit: opened.process?.describeExit() });
    const { requiredScope } = error.details;
    if (typeof requiredScope === "string") await signIn?.requireScope(requiredScope);
    const isUnauthorized = error.code === "AUTH_REQUIRED";
    // The connection is kept for other requests. If there are none, it is dropped, so that the next sign-in gets a new session.
    const isRefused = thrown instanceof InsufficientScopeError || (isUnauthorized && calls.count > 1);
    if (isRefused) onToolsChanged(false);
    if (isRefused || (isLost && opened.transportKind === "http")) noteFailure(error, true);
    else if (isLost || isUnauthorized) discard(opened, error);
    return isList === true ? error : withDoubt(error, thrown);
  };

  return {
    get state(): ServerState {
      return state;
    },
    get current(): OpenClient | undefined {
      return current;
    },
    /** Whether the server is stateless, as far as the protocol shows. */
    get isStateless(): boolean {
      if (current === undefined) return false;
      const { client, transportKind } = current;
      // Protocol 2026-07-28 has no sessions. Before it, an HTTP server that keeps state gives its clients a session.
      if (client.getProtocolEra() === "modern") return true;
      const { transport } = client;
      return transportKind === "http" && transport !== undefined && transport.sessionId === undefined;
    },
    /** Connects, unless it is connected. @throws CemError as {@link Connection.send}. */
    async open(signal: AbortSignal): Promise<void> {
      await acquire(signal);
    },
    send,
    /** Ends a backoff, so that the next use connects at once. */
    reset(): void {
      health.succeeded();
      if (state === "down" || state === "auth-required") state = "idle";
    },
    async close(): Promise<void> {
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

/** Handles list-changed notifications at intervals: the SDK would keep waiting while they continue. */
function onListChanged(onChanged: () => void) {
  let timer: NodeJS.Timeout | undefined;
  const tell = (): void => {
    timer = undefined;
    onChanged();
  };
  const wait = (): void => void (timer ??= setTimeout(tell, LIST_CHANGED_INTERVAL_MS).unref());
  return { autoRefresh: false, debounceMs: 0, onChanged: wait };
}

/** Ends the session, so that the server can free its resources, and closes the connection. */
async function endSession(client: Client): Promise<void> {
  const { transport } = client;
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const timeout = AbortSignal.timeout(TERMINATE_TIMEOUT_MS);
    await abandonOnAbort(transport.terminateSession(), timeout).catch(() => {});
  }
  await client.close().catch(() => {});
}
