import type { Server } from "node:http";
import { assertKnownOptions, CemError } from "@cem/core";
import { nearest } from "@cem/core/text";
import type { Servable } from "./agent-server.ts";
import type { AuthSettings } from "./http-auth.ts";
import { CLIENT_ADDRESS_HEADER } from "./http-forwarder.ts";
import type { HttpForwarder } from "./http-forwarder.ts";
import type { HttpFront } from "./http-front.ts";
import { bracketed, HTTP_OPTIONS, MCP_PATH, SSE_PATH } from "./http-options.ts";
import type { HttpOptions } from "./http-options.ts";
import type { AuthenticatedRequest } from "./http-routes.ts";
import { loadHttpTransport, loadMounts } from "./http-transport.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "./limits.ts";
import { createLogger } from "./logger.ts";
import type { Serving } from "./stdio.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::", ""]);

/** A server that listens for HTTP requests. */
export interface HttpServing extends Serving {
  /** The URL where clients connect: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  /** The address and port that it listens on: `127.0.0.1:3000`. */
  readonly address: string;
  /** Reach of the address: this machine alone (`loopback`), also others (`address`), others by whatever way (`every`). */
  readonly reach: "loopback" | "address" | "every";
}

/**
 * Serves any number of clients over HTTP.
 *
 * @throws CemError `ADDRESS_REFUSED` for an address that other machines can reach, without `auth`; `ADDRESS_UNUSABLE`
 *   where the server can't listen; `AUTH_INVALID` for a token that is too short; `OPTION_INVALID`.
 */
export async function serveHttp(server: Servable, options: HttpOptions = {}): Promise<HttpServing> {
  assertKnownOptions(options, HTTP_OPTIONS, "serveHttp", nearest);
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, auth, transport = "http", forwarder } = options;
  const { trustedProxies = [] } = options;
  const proxies = new TrustedProxies(trustedProxies);
  requireAuthBeyondLoopback(host, auth);
  const { HttpFront } = await import("./http-front.ts");
  const openTransport = await loadHttpTransport(transport);
  const mounted = await loadMounts(options.mounts ?? [], options.logger ?? createLogger());
  const { listening, bound } = await listen(host, port, { proxies, trustedProxies, forwarder });
  try {
    const url = endpointOf(options, host, bound, transport === "sse" ? SSE_PATH : MCP_PATH);
    const front = new HttpFront(server, options, openTransport, { url, host, mounted });
    listening.on("request", (request, response) => {
      readClient(request, proxies, forwarder !== undefined);
      void front.handle(request, response);
    });
    const address = `${bracketed(host === "" ? "::" : host)}:${bound}`;
    const reach = LOOPBACK.has(host) ? "loopback" : ANY_ADDRESS.has(host) ? "every" : "address";
    return { url: url.href, address, reach, ...closing(listening, front, server, forwarder) };
  } catch (error) {
    listening.close();
    await forwarder?.close();
    throw error;
  }
}

async function listen(
  host: string,
  port: number,
  {
    proxies,
    trustedProxies,
    forwarder,
  }: { proxies: TrustedProxies; trustedProxies: readonly string[]; forwarder: HttpForwarder | undefined },
): Promise<{ listening: Server; bound: number }> {
  const { listenForClients, listenForFront } = await import("./http-listen.ts");
  if (forwarder === undefined) {
    const { server, port: bound } = await listenForClients(host, port, proxies);
    return { listening: server, bound };
  }
  const listening = await listenForFront(forwarder.socketPath);
  try {
    return { listening, bound: await forwarder.listen(host, port, trustedProxies) };
  } catch (error) {
    listening.close();
    throw error;
  }
}

/** Finds out which address a request was sent from, which a front says in a header, and which client's it is. */
function readClient(request: AuthenticatedRequest, proxies: TrustedProxies, isForwarded: boolean): void {
  const { headers, socket } = request;
  const told = isForwarded ? headers[CLIENT_ADDRESS_HEADER] : undefined;
  delete headers[CLIENT_ADDRESS_HEADER];
  request.peerAddress = typeof told === "string" ? told : (socket.remoteAddress ?? "");
  request.clientAddress = proxies.clientOf(request.peerAddress, headers);
}

function closing(
  listening: Server,
  front: HttpFront,
  server: Servable,
  forwarder: HttpForwarder | undefined,
): Serving {
  const closed = Promise.withResolvers<void>();
  let done: Promise<void> | undefined;
  const close = async (graceMs?: number): Promise<void> => {
    front.stop();
    await forwarder?.close();
    listening.close(() => closed.resolve());
    await server.runs.close(graceMs);
    await front.answered();
    await server.close();
    await front.close();
    listening.closeAllConnections();
    await closed.promise;
  };
  return { closed: closed.promise, close: (graceMs) => (done ??= close(graceMs)) };
}

function requireAuthBeyondLoopback(host: string, auth: AuthSettings | undefined): void {
  if (auth !== undefined || LOOPBACK.has(host)) return;
  const address = ANY_ADDRESS.has(host) ? "every address" : host;
  throw new CemError(
    "ADDRESS_REFUSED",
    `Without authorization, listening on ${address} would let anyone who can reach this machine run code.`,
    { details: { host } },
  );
}

/** The URL where clients connect. A public URL with a path is used as it is. */
function endpointOf({ publicUrl }: HttpOptions, host: string, port: number, path: string): URL {
  if (publicUrl === undefined) {
    return new URL(`http://${ANY_ADDRESS.has(host) ? "localhost" : bracketed(host)}:${port}${path}`);
  }
  const url = new URL(publicUrl);
  return url.pathname === "/" ? new URL(path, url) : url;
}
