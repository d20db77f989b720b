import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { assertKnownOptions, CemError } from "@cem/core";
import { nearest } from "@cem/text";
import type { Servable } from "./create-server.ts";
import type { AuthSettings } from "./http-auth.ts";
import { networkOf } from "./http-exchange.ts";
import type { HttpFront } from "./http-front.ts";
import { bracketed, HTTP_OPTIONS, MCP_PATH, SSE_PATH } from "./http-options.ts";
import type { HttpOptions } from "./http-options.ts";
import { loadHttpTransport } from "./http-transport.ts";
import {
  DEFAULT_HOST,
  DEFAULT_PORT,
  HEADERS_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_CONNECTIONS_PER_ADDRESS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import type { Serving } from "./stdio.ts";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::", ""]);

/** A server that listens for HTTP requests. */
export interface HttpServing extends Serving {
  /** The URL where clients connect: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
}

/**
 * Serves any number of clients over HTTP.
 *
 * @throws CemError `ADDRESS_REFUSED` for an address that other machines can reach, without `auth`; `ADDRESS_UNUSABLE`
 *   where the server can't listen; `AUTH_INVALID` for a token that is too short; `OPTION_INVALID`.
 */
export async function serveHttp(server: Servable, options: HttpOptions = {}): Promise<HttpServing> {
  assertKnownOptions(options, HTTP_OPTIONS, "serveHttp", nearest);
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, auth, transport = "http" } = options;
  requireAuthBeyondLoopback(host, auth);
  const { createServer } = await import("node:http");
  const { HttpFront } = await import("./http-front.ts");
  const openTransport = await loadHttpTransport(transport);
  const listening = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  listening.maxConnections = MAX_CONNECTIONS;
  limitConnections(listening, MAX_CONNECTIONS_PER_ADDRESS);
  await listen(listening, host, port);
  try {
    const { port: bound } = listening.address() as AddressInfo;
    const url = endpointOf(options, host, bound, transport === "sse" ? SSE_PATH : MCP_PATH);
    const front = new HttpFront(server, options, openTransport, { url, host });
    listening.on("request", (request, response) => void front.handle(request, response));
    return { url: url.href, ...closing(listening, front, server) };
  } catch (error) {
    listening.close();
    throw error;
  }
}

function closing(listening: Server, front: HttpFront, server: Servable): Serving {
  const closed = Promise.withResolvers<void>();
  let done: Promise<void> | undefined;
  const close = async (graceMs?: number): Promise<void> => {
    front.stop();
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

/** Closes connections of an address that has its share of them. */
function limitConnections(listening: Server, limit: number): void {
  const open = new Map<string, number>();
  listening.on("connection", (socket) => {
    const network = networkOf(socket.remoteAddress ?? "");
    const count = (open.get(network) ?? 0) + 1;
    if (count > limit) {
      socket.destroy();
      return;
    }
    open.set(network, count);
    socket.once("close", () => {
      const left = (open.get(network) ?? 1) - 1;
      if (left > 0) open.set(network, left);
      else open.delete(network);
    });
  });
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

/** Why an address can't be listened on, by the code of Node's error. */
const REASONS: Readonly<Record<string, readonly [reason: string, words: string]>> = {
  EADDRINUSE: ["taken", "the port is taken"],
  EACCES: ["not-permitted", "this process has no permission for the port"],
  EADDRNOTAVAIL: ["not-local", "the address does not belong to this machine"],
  ENOTFOUND: ["not-found", "there is no host of this name"],
};

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const [reason, words] = REASONS[error.code ?? ""] ?? [error.code, error.message];
      const message = `Can't listen on ${bracketed(host)}:${port}: ${words}.`;
      reject(new CemError("ADDRESS_UNUSABLE", message, { details: { host, port, reason }, cause: error }));
    });
    server.listen({ host, port }, resolve);
  });
}

/** The URL where clients connect. A public URL with a path is used as it is. */
function endpointOf({ publicUrl }: HttpOptions, host: string, port: number, path: string): URL {
  if (publicUrl === undefined) {
    return new URL(`http://${ANY_ADDRESS.has(host) ? "localhost" : bracketed(host)}:${port}${path}`);
  }
  const url = new URL(publicUrl);
  return url.pathname === "/" ? new URL(path, url) : url;
}
