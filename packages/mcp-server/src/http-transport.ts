import type { NodeIncomingMessageLike } from "@modelcontextprotocol/node";
import type { Servable } from "./agent-server.ts";
import { inExchange } from "./http-exchange.ts";
import { MCP_PATH, SSE_PATH } from "./http-options.ts";
import type { HttpMount, HttpOptions } from "./http-options.ts";
import type { Route } from "./http-routes.ts";
import { MAX_BODY_BYTES } from "./limits.ts";
import type { Logger } from "./logger.ts";

/** An MCP transport over HTTP. The first route is where clients connect. */
export interface HttpTransport {
  routes: readonly [Route, ...Route[]];
  sessions: () => number;
  /** Whether a new client would be refused. */
  isFull: () => boolean;
  close: () => Promise<void>;
}

/** Opens a transport for one server. */
export type OpenHttpTransport = (
  server: Servable,
  options: Pick<HttpOptions, "maxSessions" | "sessionIdleMs">,
  logger: Logger,
) => HttpTransport;

/** Loads what serves mounts. */
export async function loadMounts(mounts: readonly HttpMount[], logger: Logger): Promise<Route[]> {
  if (mounts.length === 0) return [];
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  return mounts.map(({ path, checks, fetch }) => {
    const handle = toNodeHandler(
      { fetch: (request: Request, options) => fetch(request, options?.authInfo) },
      {
        maxRequestBodySize: MAX_BODY_BYTES,
        onerror: (error) => logger.error({ error: error.message }, "request failed"),
      },
    );
    return {
      path,
      checks,
      handle: (request, response, _url, body) =>
        inExchange(request, response, () => handle(request as NodeIncomingMessageLike, response, body)),
    };
  });
}

/** Loads a transport, and not the other one. */
export function loadHttpTransport(transport: "http" | "sse"): Promise<OpenHttpTransport> {
  return transport === "sse" ? loadSse() : loadStreamableHttp();
}

async function loadSse(): Promise<OpenHttpTransport> {
  const { createSseServer, SSE_MESSAGES_PATH } = await import("./sse.ts");
  return (server, { maxSessions }) => {
    const sse = createSseServer(server, maxSessions);
    return {
      routes: [
        { method: "GET", path: SSE_PATH, checks: "token", handle: sse.open },
        { method: "POST", path: SSE_MESSAGES_PATH, checks: "token", handle: sse.receive },
      ],
      sessions: () => sse.sessions,
      isFull: () => sse.isFull,
      close: sse.close,
    };
  };
}

async function loadStreamableHttp(): Promise<OpenHttpTransport> {
  const { createStreamableHttp } = await import("./streamable-http.ts");
  const { toNodeHandler } = await import("@modelcontextprotocol/node");
  return (server, { maxSessions, sessionIdleMs }, logger) => {
    const onError = (error: Error): void => logger.debug({ error: error.message }, "protocol");
    const streamable = createStreamableHttp(server, { onError, maxSessions, sessionIdleMs });
    const handle = toNodeHandler(streamable, {
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror: (error) => logger.error({ error: error.message }, "request failed"),
    });
    return {
      routes: [
        {
          path: MCP_PATH,
          checks: "token",
          handle: (request, response, _url, body) =>
            inExchange(request, response, () =>
              // The handler reads fewer properties than Node's types allow to be absent.
              handle(request as NodeIncomingMessageLike, response, body),
            ),
        },
      ],
      sessions: () => streamable.sessions,
      isFull: () => streamable.isFull,
      close: streamable.close,
    };
  };
}
