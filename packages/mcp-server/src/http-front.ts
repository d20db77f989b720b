import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import {
  localhostAllowedHostnames,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";
import type { AuthInfo } from "@modelcontextprotocol/server";
import { toNodeHandler } from "@modelcontextprotocol/node";
import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import type { Servable } from "./create-server.ts";
import { createAuthenticator } from "./http-auth.ts";
import type { Authenticator } from "./http-auth.ts";
import type { HttpOptions } from "./http.ts";
import { MAX_BODY_BYTES } from "./limits.ts";
import { createLogger } from "./logger.ts";
import type { Logger } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import type { ServerMetrics } from "./metrics.ts";
import { createReadiness } from "./readiness.ts";
import type { Readiness } from "./readiness.ts";
import { createSseServer, SSE_MESSAGES_PATH, SSE_PATH } from "./sse.ts";
import type { SseServer } from "./sse.ts";
import { createStreamableHttp } from "./streamable-http.ts";
import type { StreamableHttp } from "./streamable-http.ts";

export const MCP_PATH = "/mcp";
/** Asked every few seconds by machines. */
const WATCHED = new Set(["/healthz", "/readyz", "/metrics"]);
const PAGE_HEADERS =
  "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, mcp-method, mcp-name, last-event-id";
/** How long answers may take to leave at shutdown. */
const MAX_DRAIN_MS = 2_000;
const METADATA_PATH = "/.well-known/oauth-protected-resource";

type AuthenticatedRequest = IncomingMessage & { auth?: AuthInfo };

/** Everything between the socket and the protocol. */
export class HttpFront {
  readonly logger: Logger;
  readonly #transport: "http" | "sse";
  readonly #hosts: string[];
  readonly #origins: string[];
  /** Of web pages that were named, whose browsers are told that they may. */
  readonly #pages: string[];
  readonly #requestIds = new AsyncLocalStorage<string>();
  readonly #authenticator: Authenticator | undefined;
  readonly #streamable: StreamableHttp;
  readonly #sse: SseServer;
  readonly #metrics: ServerMetrics;
  readonly #readiness: Readiness;
  /** Of POSTs under way; other answers are streams that last as long as their clients. */
  readonly #answers = new Set<Promise<unknown>>();
  readonly #mcp: (request: AuthenticatedRequest, response: ServerResponse) => Promise<void>;

  /** `url`: where clients connect. `host`: what it is bound to. */
  constructor(server: Servable, options: HttpOptions, url: URL, host: string) {
    const { allowedHosts = [], allowedOrigins = [], auth, maxSessions, sessionIdleMs } = options;
    this.logger = options.logger ?? createLogger();
    this.#transport = options.transport ?? "http";
    this.#hosts = [
      ...localhostAllowedHostnames(),
      url.hostname,
      bracketed(host),
      ...allowedHosts.map(bracketed),
    ];
    const ownPages = options.publicUrl === undefined ? [] : [url.hostname];
    this.#pages = [...ownPages, ...allowedOrigins.map(bracketed)];
    this.#origins = [...localhostAllowedHostnames(), ...this.#pages];
    this.#authenticator = auth && createAuthenticator(auth, url);
    const onError = (error: Error): void => this.logger.debug({ error: error.message }, "protocol");
    this.#streamable = createStreamableHttp(server, {
      onError,
      ...(maxSessions !== undefined && { maxSessions }),
      ...(sessionIdleMs !== undefined && { sessionIdleMs }),
    });
    this.#sse = createSseServer(server, maxSessions);
    this.#metrics = createMetrics(server, () => this.#streamable.sessions + this.#sse.sessions);
    this.#readiness = createReadiness(server.agent, this.logger);
    const handle = toNodeHandler(this.#streamable, {
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: (error) => this.logger.error({ error: error.message }, "request failed"),
    });
    // It reads fewer properties than Node's types allow to be absent.
    this.#mcp = (request, response) => handle(request as NodeIncomingMessageLike, response);
    server.runs.onFinished(({ kind, ms, result }) => {
      const requestId = this.#requestIds.getStore();
      const facts = { requestId, kind, ms: Math.round(ms), status: result?.status ?? "failed" };
      this.logger.info({ ...facts, code: result?.error?.code, toolCalls: result?.toolCalls.length }, "run");
    });
  }

  /** Resolves once what was asked is answered, or its clients are too slow to wait for. */
  async answered(): Promise<void> {
    const timer = new AbortController();
    const late = delay(MAX_DRAIN_MS, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#answers), late]);
    timer.abort();
  }

  /** From now on it is not ready. */
  stop(): void {
    this.#readiness.stop();
  }

  async close(): Promise<void> {
    await Promise.all([this.#streamable.close(), this.#sse.close()]);
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const requestId = randomUUID();
    const started = performance.now();
    const path = pathOf(request);
    response.setHeader("x-request-id", requestId);
    if (request.method === "POST") this.#track(response);
    response.once("close", () => {
      const { statusCode: status } = response;
      this.#metrics.countRequest(status);
      const ms = Math.round(performance.now() - started);
      const facts = { requestId, method: request.method, path: path?.pathname, status, ms };
      if (WATCHED.has(path?.pathname ?? "")) this.logger.debug(facts, "request");
      else this.logger.info(facts, "request");
    });
    try {
      if (path === undefined) plain(response, 400, "The request's path can't be read.");
      else await this.#requestIds.run(requestId, () => this.#route(request, response, path));
    } catch (error) {
      this.logger.error(
        { requestId, error: error instanceof Error ? error.message : String(error) },
        "fault",
      );
      if (!response.headersSent) plain(response, 500, `Something went wrong here. Request ${requestId}.`);
      else response.destroy();
    }
  }

  #track(response: ServerResponse): void {
    const answered = new Promise((resolve) => response.once("close", resolve));
    this.#answers.add(answered);
    void answered.then(() => this.#answers.delete(answered));
  }

  async #route(request: AuthenticatedRequest, response: ServerResponse, url: URL): Promise<void> {
    const { pathname } = url;
    // Asked by orchestrators, which address a machine by any name and hold no token.
    if (pathname === "/healthz") return plain(response, 200, "ok");
    if (pathname === "/readyz") return this.#ready(response);
    if (!this.#isAddressedHere(request, response)) return undefined;
    if (this.#allowPage(request, response) && request.method === "OPTIONS") {
      response.writeHead(204).end();
      return undefined;
    }
    if (pathname.startsWith(METADATA_PATH)) return this.#metadata(response);
    if (this.#authenticator !== undefined) {
      const checked = await this.#authenticator.check(request.headers.authorization);
      if ("refusal" in checked) return send(response, checked.refusal);
      request.auth = checked.authInfo;
    }
    if (pathname === "/metrics") return this.#showMetrics(response);
    if (this.#transport === "http" && pathname === MCP_PATH) return this.#mcp(request, response);
    if (this.#transport === "sse" && pathname === SSE_PATH && request.method === "GET") {
      return this.#sse.open(request, response);
    }
    if (this.#transport === "sse" && pathname === SSE_MESSAGES_PATH && request.method === "POST") {
      return this.#sse.receive(request, response, url);
    }
    const here = this.#transport === "sse" ? SSE_PATH : MCP_PATH;
    return plain(
      response,
      404,
      `There is nothing at ${request.method} ${pathname}. MCP is spoken at ${here}.`,
    );
  }

  #isAddressedHere(request: IncomingMessage, response: ServerResponse): boolean {
    const { host, origin } = request.headers;
    const faults = [validateHostHeader(host, this.#hosts), validateOriginHeader(origin, this.#origins)];
    const fault = faults.find(({ ok }) => !ok);
    if (fault === undefined || fault.ok) return true;
    const key = fault.errorCode.includes("host") ? "server.allowed_hosts" : "server.allowed_origins";
    const message = `${fault.message}. If it is meant to be served, add it to ${key}.`;
    send(
      response,
      Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status: 403 }),
    );
    return false;
  }

  /** Tells a browser that a page which was named may ask, and read the answer. */
  #allowPage({ headers: { origin } }: IncomingMessage, response: ServerResponse): boolean {
    if (origin === undefined || !validateOriginHeader(origin, this.#pages).ok) return false;
    response.setHeader("access-control-allow-origin", origin);
    response.setHeader("vary", "origin");
    response.setHeader("access-control-allow-methods", "GET, POST, DELETE");
    response.setHeader("access-control-allow-headers", PAGE_HEADERS);
    response.setHeader("access-control-expose-headers", "mcp-session-id, www-authenticate, x-request-id");
    return true;
  }

  async #ready(response: ServerResponse): Promise<void> {
    const fault = await this.#readiness.fault();
    plain(response, fault === undefined ? 200 : 503, fault ?? "ready");
  }

  #metadata(response: ServerResponse): void {
    const metadata = this.#authenticator?.resourceMetadata;
    if (metadata === undefined) return plain(response, 404, "No OAuth issuer is set here.");
    response.writeHead(200, { "content-type": "application/json", "access-control-allow-origin": "*" });
    response.end(JSON.stringify(metadata));
  }

  async #showMetrics(response: ServerResponse): Promise<void> {
    const { registry } = this.#metrics;
    const text = await registry.metrics();
    response.writeHead(200, { "content-type": registry.contentType }).end(text);
  }
}

/** IPv6 as it stands in a URL. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

function pathOf({ url = "/" }: IncomingMessage): URL | undefined {
  return URL.canParse(url, "http://localhost") ? new URL(url, "http://localhost") : undefined;
}

function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${text}\n`);
}

function send(response: ServerResponse, answer: Response): void {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  void answer.text().then((body) => response.end(body));
}
