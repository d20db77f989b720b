import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { abandonOnAbort, forClients, toErrorInfo } from "@cem/core";
import { customerDigest } from "@cem/core/telemetry";
import { getRequestListener, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { localhostAllowedHostnames } from "@modelcontextprotocol/server";
import { Hono } from "hono";
import type { Registry } from "prom-client";
import type { Servable } from "../agent-server.ts";
import { MAX_CONNECTIONS_PER_ADDRESS, MAX_NAMED_CHARACTERS, MAX_RUNS } from "../limits.ts";
import type { Logger } from "../logger.ts";
import { authorize, checkHostAndOrigin, endWithToken, textAnswer } from "./checks.ts";
import { createAuthenticator, RESOURCE_METADATA_PATH } from "./auth.ts";
import { currentExchange, inExchange, type HttpEnv, type HttpExchange } from "../exchange.ts";
import { createReadiness, routeHealth, type Probe } from "./health.ts";
import { readJsonBody, readJsonBodyOr } from "./json-body.ts";
import { answerMetrics, createMetrics } from "./metrics.ts";
import { bracketed, type HttpMount, type HttpOptions } from "./options.ts";
import type { Sessions } from "./sessions.ts";
import { networkOf, sharePerNetwork, type TrustedProxies } from "./trusted-proxies.ts";

/** Paths that machines poll: logged at debug level. */
const POLLED_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);
/** How long answers may take to be delivered at shutdown. */
const MAX_DRAIN_MS = 2_000;

/** An MCP transport over HTTP. */
export interface HttpTransport {
  readonly path: string;
  /** Open sessions, or streams, and whether a new client would be refused. */
  readonly sessions: Pick<Sessions<unknown>, "size" | "isFull">;
  /** Adds its routes, which run after all checks. */
  route(app: Hono<HttpEnv>): void;
  close(): Promise<void>;
}

interface HttpAppParts {
  server: Servable;
  options: HttpOptions;
  transport: HttpTransport;
  logger: Logger;
  proxies: TrustedProxies;
  /** The URL where clients connect. */
  url: URL;
  /** The address that the server listens on. */
  host: string;
}

/** @throws CemError `AUTH_INVALID`, or `OPTION_INVALID` for an address of a proxy. */
export function createHttpApp(parts: HttpAppParts) {
  const { server, transport, logger, proxies } = parts;
  const metrics = createMetrics(server.runs, () => transport.sessions.size);
  const readiness = createReadiness(server, logger, () => {
    const { isFull, size } = transport.sessions;
    if (isFull) return `${size} sessions are open and in use, which is the maximum`;
    return server.runs.active < MAX_RUNS ? undefined : `${MAX_RUNS} runs are under way, which is the maximum`;
  });
  /** Pending answers to POSTs. Answers to GETs are streams that last as long as their clients. */
  const answers = new Set<Promise<unknown>>();
  /** Limits requests in progress per client behind proxies. */
  const reserveProxied = sharePerNetwork(MAX_CONNECTIONS_PER_ADDRESS);
  const app = routes(parts, { report: () => readiness.report(), registry: metrics.registry });
  const listener = getRequestListener(app.fetch, {
    hostname: "localhost",
    overrideGlobalObjects: false,
    // The app handles its own errors. Only URLs that the adapter can't parse arrive here.
    errorHandler: (error) =>
      error instanceof RequestError ? badUrl() : textAnswer(500, "Internal server error."),
  });
  server.runs.onFinished(({ kind, customer: key, ms, status, result, thrown }) => {
    const { requestId } = currentExchange();
    const error = result?.error ?? (thrown === undefined ? undefined : toErrorInfo(thrown));
    const customer = key && customerDigest(key);
    const facts = { requestId, kind, customer, ms: Math.round(ms), status, code: error?.code };
    // Clients are told that the log has the reason.
    const fault = error && forClients(error).message !== error.message ? error.message : undefined;
    const level = fault === undefined ? "info" : "warn";
    logger[level]({ ...facts, toolCalls: result?.toolCalls.length, fault }, "run");
  });

  /** Logs and counts the request when its answer was sent or its client disconnected. */
  function observe(request: IncomingMessage, response: ServerResponse, requestId: string): void {
    const started = performance.now();
    const { method, url = "/" } = request;
    const [asked = "/"] = url.split("?", 1);
    // Otherwise the log would permanently contain a customer's id, even if this request deletes the customer.
    const path = asked.replace(/(\/customers\/).+/u, "$1…");
    response.once("close", () => {
      const { statusCode: status } = response;
      metrics.countRequest(status);
      const facts = { requestId, method, path, status, ms: Math.round(performance.now() - started) };
      logger[POLLED_PATHS.has(path) ? "debug" : "info"](facts, "request");
    });
  }

  return {
    /** Handles a request of the Node.js HTTP server. */
    handle: (request: IncomingMessage, response: ServerResponse): void => {
      const { headers, socket } = request;
      const peer = socket.remoteAddress ?? "";
      const client = proxies.clientOf(peer, headers);
      const exchange = exchangeOf(response, client, logger);
      response.setHeader("x-request-id", exchange.requestId);
      observe(request, response, exchange.requestId);
      if (request.method === "POST") {
        const answered = new Promise((resolve) => response.once("close", resolve));
        answers.add(answered);
        void answered.then(() => answers.delete(answered));
      }
      // A proxy's connections carry requests of many clients, so requests are counted instead.
      const release = client === peer ? () => {} : reserveProxied(client);
      if (release === undefined) {
        const text = `This client has ${MAX_CONNECTIONS_PER_ADDRESS} requests under way, which is its share.`;
        response.writeHead(429, { "content-type": "text/plain; charset=utf-8", "retry-after": "1" });
        response.end(`${text}\n`);
        return;
      }
      response.once("close", release);
      // The app checks the Host header itself, since the adapter would silently refuse an invalid one.
      delete headers.host;
      void inExchange(exchange, () => listener(request, response));
    },
    /** Resolves when the POSTs in progress are answered, or after `MAX_DRAIN_MS` if clients read too slowly. */
    async answered(): Promise<void> {
      await abandonOnAbort(Promise.all(answers), AbortSignal.timeout(MAX_DRAIN_MS)).catch(() => {});
    },
    /** Makes `/readyz` answer that the server is shutting down. */
    stop: readiness.stop,
    close(): Promise<void> {
      metrics.close();
      return transport.close();
    },
  };
}

export type HttpApp = ReturnType<typeof createHttpApp>;

function routes(
  { options, transport, url, host, logger, proxies }: HttpAppParts,
  { report, registry }: { report: Probe; registry: Registry },
): Hono<HttpEnv> {
  const { allowedHosts = [], allowedOrigins = [], auth, publicUrl, ownerHeader, mounts = [] } = options;
  const authenticator = auth && createAuthenticator(auth, url);
  const own = localhostAllowedHostnames();
  const pages = [...(publicUrl === undefined ? [] : [url.hostname]), ...allowedOrigins.map(bracketed)];
  const app = new Hono<HttpEnv>();
  app.use(({ env: { incoming } }, next) =>
    URL.canParse(incoming.url ?? "/", "http://localhost") ? next() : Promise.resolve(badUrl()),
  );
  // Orchestrators address a host by any name and have no token.
  routeHealth(app, report);
  app.use(
    checkHostAndOrigin({
      hosts: [...own, url.hostname, bracketed(host), ...allowedHosts.map(bracketed)],
      origins: [...own, ...pages],
      pages,
      // Prometheus scrapes each pod by its address.
      anyHost: authenticator && "/metrics",
    }),
  );
  app.all(`${RESOURCE_METADATA_PATH}/*`, () => {
    const metadata = authenticator?.resourceMetadata;
    if (metadata === undefined) return textAnswer(404, "This server has no OAuth issuer.");
    return Response.json(metadata, { headers: { "access-control-allow-origin": "*" } });
  });
  for (const mount of mounts) if (mount.checks === "host") routeMount(app, mount);
  const landing = mounts.find((mount) => mount.landing !== undefined)?.landing;
  app.get("/", ({ req, redirect }, next) =>
    landing !== undefined && req.header("accept")?.includes("text/html") === true
      ? Promise.resolve(redirect(landing))
      : next(),
  );
  app.use(authorize(authenticator, { header: ownerHeader, proxies }));
  app.all("/metrics", () => answerMetrics(registry));
  transport.route(app);
  for (const mount of mounts) if (mount.checks === "token") routeMount(app, mount);
  app.notFound(({ req: { method, path } }) => {
    const shown = path.slice(0, MAX_NAMED_CHARACTERS);
    return textAnswer(404, `There is nothing at ${method} ${shown}. MCP is served at ${transport.path}.`);
  });
  app.onError((error, { env: { incoming, outgoing } }) => {
    const { requestId } = currentExchange();
    // A client that aborts its body is not an error of this server.
    const level = incoming.errored === null ? "error" : "debug";
    logger[level]({ requestId, error: error.message }, "fault");
    if (!outgoing.headersSent) return textAnswer(500, `Internal server error. Request ${requestId}.`);
    outgoing.destroy();
    return RESPONSE_ALREADY_SENT;
  });
  return app;
}

function exchangeOf(response: ServerResponse, client: string, logger: Logger) {
  const requestId = randomUUID();
  return {
    requestId,
    fault: (error, level = "warn") => logger[level]({ requestId, error }, "fault"),
    quotaOwner: networkOf(client),
    cut: () => void response.destroy(),
    onClose(listener) {
      if (response.closed) listener();
      else response.once("close", listener);
    },
    retryAfter(seconds) {
      if (!response.headersSent) response.setHeader("retry-after", String(seconds));
    },
  } satisfies HttpExchange;
}

function routeMount(app: Hono<HttpEnv>, { path, fetch: answer, refuse }: HttpMount): void {
  const readBody =
    refuse === undefined ? readJsonBody : readJsonBodyOr((status, _, message) => refuse(status, message));
  app.all(path, readBody, endWithToken, ({ req, get }) =>
    answer(req.raw, { authInfo: get("authInfo"), body: get("body") }),
  );
}

function badUrl(): Response {
  return textAnswer(400, "The request's URL is not valid.");
}
