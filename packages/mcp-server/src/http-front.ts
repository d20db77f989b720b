import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import type { Servable } from "./agent-server.ts";
import { networkOf } from "./client-network.ts";
import { healthRoutes } from "./health.ts";
import { createAuthenticator, RESOURCE_METADATA_PATH } from "./http-auth.ts";
import type { Authenticator } from "./http-auth.ts";
import { bracketed } from "./http-options.ts";
import type { HttpOptions } from "./http-options.ts";
import { createRouter, sendText } from "./http-routes.ts";
import type { AuthenticatedRequest, Route } from "./http-routes.ts";
import type { HttpTransport, OpenHttpTransport } from "./http-transport.ts";
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_RUNS } from "./limits.ts";
import { createLogger } from "./logger.ts";
import type { Logger } from "./logger.ts";
import { createMetrics } from "./metrics.ts";
import type { ServerMetrics } from "./metrics.ts";
import { createReadiness } from "./readiness.ts";
import type { Readiness } from "./readiness.ts";

/** Paths that machines poll: logged at debug level. */
const POLLED_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);
/** How long answers may take to be sent at shutdown. */
const MAX_DRAIN_MS = 2_000;

/** Answers HTTP requests: logs and counts them, checks them, and hands them to the MCP transport. */
export class HttpFront {
  readonly #logger: Logger;
  readonly #requestIds = new AsyncLocalStorage<string>();
  readonly #transport: HttpTransport;
  readonly #metrics: ServerMetrics;
  readonly #readiness: Readiness;
  readonly #route: ReturnType<typeof createRouter>;
  /** Answers to POSTs under way. Answers to GETs are streams that last as long as their clients. */
  readonly #answers = new Set<Promise<unknown>>();
  /** Requests under way that proxies sent, by their clients' networks. */
  readonly #proxied = new Map<string, number>();

  /**
   * @param url - Where clients connect.
   * @param host - The address that the server listens on.
   * @throws CemError `AUTH_INVALID`
   */
  constructor(
    server: Servable,
    options: HttpOptions,
    openTransport: OpenHttpTransport,
    { url, host, mounted }: { url: URL; host: string; mounted: readonly Route[] },
  ) {
    const { allowedHosts = [], allowedOrigins = [], auth, publicUrl, logger = createLogger() } = options;
    const authenticator = auth && createAuthenticator(auth, url);
    this.#logger = logger;
    this.#transport = openTransport(server, options, logger);
    this.#metrics = createMetrics(server, this.#transport.sessions);
    this.#readiness = createReadiness(server, logger, () => {
      if (this.#transport.isFull())
        return `${this.#transport.sessions()} sessions are open and in use, which is the maximum`;
      return server.runs.active < MAX_RUNS
        ? undefined
        : `${MAX_RUNS} runs are under way, which is the maximum`;
    });
    const own = localhostAllowedHostnames();
    const ownPages = publicUrl === undefined ? [] : [url.hostname];
    const pages = [...ownPages, ...allowedOrigins.map(bracketed)];
    const { routes } = this.#transport;
    this.#route = createRouter({
      routes: [...this.#routes(authenticator), ...routes, ...mounted],
      notFound: `MCP is served at ${routes[0].path}.`,
      hosts: [...own, url.hostname, bracketed(host), ...allowedHosts.map(bracketed)],
      origins: [...own, ...pages],
      pages,
      authenticator,
      customerHeader: options.customerHeader,
    });
    server.runs.onFinished(({ kind, ms, result }) => {
      const requestId = this.#requestIds.getStore();
      const facts = { requestId, kind, ms: Math.round(ms), status: result?.status ?? "failed" };
      logger.info({ ...facts, code: result?.error?.code, toolCalls: result?.toolCalls.length }, "run");
    });
  }

  /** The routes beside those of the MCP transport. */
  #routes(authenticator: Authenticator | undefined): Route[] {
    const metadata = authenticator?.resourceMetadata;
    return [
      ...healthRoutes(() => this.#readiness.report()),
      {
        path: `${RESOURCE_METADATA_PATH}*`,
        checks: "host",
        handle: (_, response) => {
          if (metadata === undefined) return sendText(response, 404, "This server has no OAuth issuer.");
          response.writeHead(200, { "content-type": "application/json", "access-control-allow-origin": "*" });
          response.end(JSON.stringify(metadata));
        },
      },
      {
        path: "/metrics",
        checks: "token",
        handle: async (_, response) => {
          const { registry } = this.#metrics;
          const text = await registry.metrics();
          response.writeHead(200, { "content-type": registry.contentType }).end(text);
        },
      },
    ];
  }

  readonly handle = async (request: AuthenticatedRequest, response: ServerResponse): Promise<void> => {
    const requestId = randomUUID();
    response.setHeader("x-request-id", requestId);
    this.#observe(request, response, requestId);
    if (!this.#admit(request, response)) return;
    if (request.method === "POST") this.#track(response);
    try {
      await this.#requestIds.run(requestId, () => this.#route(request, response));
    } catch (error) {
      this.#logger.error(
        { requestId, error: error instanceof Error ? error.message : String(error) },
        "fault",
      );
      if (response.headersSent) response.destroy();
      else sendText(response, 500, `Internal server error. Request ${requestId}.`);
    }
  };

  /** Counts the requests under way of clients behind proxies, whose connections are those of all. */
  #admit({ clientAddress, peerAddress }: AuthenticatedRequest, response: ServerResponse): boolean {
    if (clientAddress === undefined || clientAddress === peerAddress) return true;
    const client = networkOf(clientAddress);
    const count = (this.#proxied.get(client) ?? 0) + 1;
    if (count > MAX_CONNECTIONS_PER_ADDRESS) {
      response.setHeader("retry-after", "1");
      sendText(response, 429, `This client has ${count - 1} requests under way, which is its share.`);
      return false;
    }
    this.#proxied.set(client, count);
    response.once("close", () => {
      const left = (this.#proxied.get(client) ?? 1) - 1;
      if (left > 0) this.#proxied.set(client, left);
      else this.#proxied.delete(client);
    });
    return true;
  }

  /** Resolves once the POSTs under way are answered, or after `MAX_DRAIN_MS` where clients read too slowly. */
  async answered(): Promise<void> {
    const timer = new AbortController();
    const late = delay(MAX_DRAIN_MS, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#answers), late]);
    timer.abort();
  }

  /** Makes `/readyz` answer that the server is shutting down. */
  stop(): void {
    this.#readiness.stop();
  }

  async close(): Promise<void> {
    await this.#transport.close();
  }

  /** Logs and counts the request when its answer is sent or its client is gone. */
  #observe(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const started = performance.now();
    const { method, url = "/" } = request;
    const [path = "/"] = url.split("?", 1);
    response.once("close", () => {
      const { statusCode: status } = response;
      this.#metrics.countRequest(status);
      const facts = { requestId, method, path, status, ms: Math.round(performance.now() - started) };
      this.#logger[POLLED_PATHS.has(path) ? "debug" : "info"](facts, "request");
    });
  }

  #track(response: ServerResponse): void {
    const answered = new Promise((resolve) => response.once("close", resolve));
    this.#answers.add(answered);
    void answered.then(() => this.#answers.delete(answered));
  }
}
