import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ErrorInfo } from "@cem/core";
import {
  Client,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { AuthProvider, ClientOptions, FetchLike, Transport } from "@modelcontextprotocol/client";
import { withoutUndefined } from "../oauth/sign-in.ts";
import type { McpServerSettings, TransportSettings } from "../settings/server-settings.ts";
import { failWithStreams } from "../transport/answer-streams.ts";
import { isConnectionLoss, StartFailure } from "../transport/call-failures.ts";
import { createServerFetch } from "../transport/server-fetch.ts";
import { createStdioTransport, environmentOf, type StdioTransport } from "../transport/stdio-transport.ts";
import { keepListsRaw } from "./tool-list.ts";

/** An SDK client on an open connection. */
export interface OpenClient {
  client: Client;
  /** The transport that worked. */
  transportKind: "stdio" | "http" | "sse" | "custom";
  /** The server's process. Present for stdio only. */
  process?: StdioTransport | undefined;
  /** The resources that it is subscribed to. */
  watched: Set<string>;
}

interface OpenClientOptions {
  settings: McpServerSettings;
  clientOptions: Pick<ClientOptions, "capabilities" | "listChanged">;
  /** The name and version this client gives itself. */
  identity: { name: string; version: string };
  authProvider?: AuthProvider | undefined;
  signal: AbortSignal;
  /** Timeout of the handshake, in milliseconds. */
  timeoutMs: number;
  onStderr: (line: string) => void;
  onWarning: (message: string) => void;
  /** Registers handlers before the handshake. */
  prepare: (client: Client) => void;
}

/** Minimum time between two attempts to open a stream, in milliseconds. */
const MIN_RECONNECT_MS = 500;
/** Streams that were open for less are short. */
const SHORT_STREAM_MS = 10_000;

interface Attempt {
  transportKind: OpenClient["transportKind"];
  protocol: "auto" | "legacy" | { pin: string };
}

/** Opens a connection. Tries the transports and protocol versions that the server may support, most likely first. */
export async function openClient(options: OpenClientOptions): Promise<OpenClient> {
  const { kind } = options.settings.transport;
  const attempts = planAttempts(options.settings);
  let failure: unknown;
  for (const attempt of attempts) {
    if (failure !== undefined && !isFor(failure, attempt)) continue;
    try {
      return await open(attempt, options);
    } catch (error) {
      // The error of a transport that the server does not support is less informative than the previous one.
      const isLess = attempt.transportKind === "sse" ? error instanceof SseError : kind !== "http";
      if (failure === undefined || !isLess) failure = error;
      if (options.signal.aborted) break;
    }
  }
  throw failure;
}

function planAttempts(settings: McpServerSettings): Attempt[] {
  const transportKind = settings.transport.kind;
  const { protocol = "auto" } = settings;
  const auto: Attempt = { transportKind, protocol: "auto" };
  const legacy: Attempt = { transportKind, protocol: "legacy" };
  if (transportKind === "sse" || protocol === "legacy") return [legacy];
  if (protocol === "2026-07-28") return [{ transportKind, protocol: { pin: protocol } }];
  // Except over HTTP, a server with a protocol before 2026-07-28 may not answer a probe, or exit.
  return transportKind === "http"
    ? [auto, legacy, { transportKind: "sse", protocol: "legacy" }]
    : [legacy, auto];
}

/** Whether an attempt may succeed after the failure of another. */
function isFor(failure: unknown, { transportKind }: Attempt): boolean {
  if (transportKind === "sse") {
    const { status = 0 } = failure instanceof SdkHttpError ? failure.data : {};
    return (status >= 400 && status < 500 && status !== 401 && status !== 429) || status === 501;
  }
  // An older server may answer the probe with a fault or a page, or not at all.
  const { EraNegotiationFailed, RequestTimeout } = SdkErrorCode;
  if (transportKind === "http")
    return failure instanceof SdkError && [EraNegotiationFailed, RequestTimeout].includes(failure.code);
  // A server that only supports 2026-07-28 answers `initialize` with an error.
  return failure instanceof ProtocolError;
}

async function open(attempt: Attempt, options: OpenClientOptions): Promise<OpenClient> {
  const { signal, timeoutMs } = options;
  const { transport, process } = await createTransport(attempt.transportKind, options);
  keepListsRaw(transport);
  // The other half is for the attempt without a probe.
  const probe =
    attempt.transportKind === "http" && attempt.protocol === "auto" ? { timeoutMs: timeoutMs / 2 } : {};
  const client = new Client(options.identity, {
    ...options.clientOptions,
    versionNegotiation: { mode: attempt.protocol, probe },
  });
  options.prepare(client);
  const closeOnAbort = (): void => void transport.close().catch(() => {});
  signal.addEventListener("abort", closeOnAbort, { once: true });
  try {
    signal.throwIfAborted();
    await client.connect(transport, { signal, timeout: timeoutMs });
    signal.throwIfAborted();
    return { client, transportKind: attempt.transportKind, process, watched: new Set() };
  } catch (error) {
    if (isConnectionLoss(error)) await process?.waitForExit();
    const exit = process?.describeExit();
    await transport.close().catch(() => {});
    if (signal.aborted) throw signal.reason;
    if (exit === undefined) throw explain(error, options.settings);
    throw new StartFailure(exit + withheldVariable(exit, options.settings.transport));
  } finally {
    signal.removeEventListener("abort", closeOnAbort);
  }
}

async function createTransport(
  kind: OpenClient["transportKind"],
  options: OpenClientOptions,
): Promise<{ transport: Transport; process?: StdioTransport | undefined }> {
  const { transport } = options.settings;
  const { onStderr, onWarning } = options;
  if (transport.kind === "stdio") {
    const process = createStdioTransport(transport, { onStderr, onWarning });
    return { transport: process, process };
  }
  if (transport.kind === "custom") {
    const { url, headers = {}, provider } = transport;
    const made = await provider.connect({ url, headers, signal: options.signal });
    // Its messages are checked against the protocol by the client.
    return { transport: made as unknown as Transport };
  }
  const fetch = createServerFetch({ ...transport, onWarning });
  const common = withoutUndefined({ fetch, authProvider: options.authProvider });
  const url = new URL(transport.url);
  if (kind === "sse") return { transport: new SSEClientTransport(url, common) };
  const streamable = new StreamableHTTPClientTransport(url, {
    ...common,
    fetch: pauseStreams(fetch),
    reconnectionScheduler: reconnect,
  });
  failWithStreams(streamable);
  return { transport: streamable };
}

/** Reopens an interrupted stream, with a lower bound on the delay that a server asks for. */
function reconnect(open: () => void, delayMs: number): () => void {
  const timer = setTimeout(open, Math.max(delayMs, MIN_RECONNECT_MS));
  return () => clearTimeout(timer);
}

/** Delays the next listening stream after those that ended at once and without an event, longer with each. */
function pauseStreams(fetch: FetchLike): FetchLike {
  const health = new ConnectionHealth();
  let openedAt = 0;
  return async (url, init = {}) => {
    // A stream that is resumed may have the answer of a call.
    if (init.method !== "GET" || new Headers(init.headers).has("last-event-id")) return fetch(url, init);
    if (performance.now() - openedAt > SHORT_STREAM_MS) health.succeeded();
    const { signal = null } = init;
    if (health.waitMs > 0) await sleep(health.waitMs, undefined, { ref: false, ...(signal && { signal }) });
    openedAt = performance.now();
    const response = await fetch(url, init);
    if (response.body === null || !response.ok) return response;
    health.failed();
    let text = "";
    const seen = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        text = text.slice(1 - "data:".length) + Buffer.from(chunk).toString("latin1");
        if (text.includes("data:")) health.succeeded();
        controller.enqueue(chunk);
      },
    });
    return new Response(response.body.pipeThrough(seen), response);
  };
}

/** Explains why a server's command could not be started. */
function explain(error: unknown, { transport }: McpServerSettings): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (transport.kind !== "stdio" || (code !== "ENOENT" && code !== "EACCES")) return error;
  const { command, cwd = "." } = transport;
  const reason = !existsSync(cwd)
    ? `there is no folder ${cwd} to start it in.`
    : code === "ENOENT" && /\s/.test(command)
      ? "no program has this name with its spaces. Arguments belong into args."
      : basename(command) === command
        ? "is it installed and on PATH?"
        : `is there such a program at ${resolve(cwd, command)}, and may this user execute it?`;
  return new StartFailure(`its command "${command}" can't be started (${code}): ${reason}`);
}

/** Advice for a process that ended over a variable that is set here, but not among those that it is given. */
function withheldVariable(exit: string, transport: TransportSettings): string {
  if (transport.kind !== "stdio") return "";
  const { variable = (name: string) => process.env[name] } = transport;
  const given = environmentOf(transport);
  const name = exit
    .match(/\b[A-Z][A-Z0-9_]{3,}\b/g)
    ?.find((word) => given[word] === undefined && (variable(word) ?? "") !== "");
  if (name === undefined) return "";
  return ` (${name} is set here, but a server gets only the variables that env of its entry names, as ${name}: \${${name}})`;
}

const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/** State shared by the connections to one server: its last failure, and when to retry. */
export class ConnectionHealth {
  lastError: ErrorInfo | undefined;
  #failures = 0;
  #retryAt = 0;

  /** Milliseconds until the next attempt is allowed; 0 when it is allowed now. */
  get waitMs(): number {
    return Math.max(0, Math.ceil(this.#retryAt - performance.now()));
  }

  /** Starts a delay of 1 s, which doubles with each failure up to 60 s, less a random quarter. */
  failed(): void {
    const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** this.#failures);
    this.#failures += 1;
    this.#retryAt = performance.now() + delayMs * (0.75 + Math.random() / 4);
  }

  /** Ends the delay and resets its length. */
  succeeded(): void {
    this.#failures = 0;
    this.#retryAt = 0;
  }
}
