import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { CemError } from "@cem/core";
import type { Servable } from "./create-server.ts";
import type { AuthSettings } from "./http-auth.ts";
import { bracketed, HttpFront, MCP_PATH } from "./http-front.ts";
import {
  DEFAULT_HOST,
  DEFAULT_PORT,
  HEADERS_TIMEOUT_MS,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  REQUEST_TIMEOUT_MS,
} from "./limits.ts";
import type { Logger } from "./logger.ts";
import { SSE_PATH } from "./sse.ts";
import type { Serving } from "./stdio.ts";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::", ""]);

export interface HttpOptions {
  /** `http`: Streamable HTTP at `/mcp`. `sse`: the older transport at `/sse`. Default: `http`. */
  transport?: "http" | "sse" | undefined;
  /** Default: 127.0.0.1. Anything but this machine's own addresses needs `auth`. */
  host?: string | undefined;
  /** 0: any that is free. Default: 3000. */
  port?: number | undefined;
  auth?: AuthSettings | undefined;
  /** URL that clients reach it by, where that is not its own address. */
  publicUrl?: string | undefined;
  /** Host names that requests may be addressed to, beside this machine's own and those of `host` and `publicUrl`. */
  allowedHosts?: readonly string[] | undefined;
  /** Host names of web pages that may send requests, beside this machine's own. */
  allowedOrigins?: readonly string[] | undefined;
  /** Default: the log goes to standard error. */
  logger?: Logger | undefined;
  /** Default: 1,000. */
  maxSessions?: number | undefined;
  /** Sessions of the older protocol are closed when nobody used them for so long, in milliseconds. Default: 30 minutes. */
  sessionIdleMs?: number | undefined;
}

/** A server that listens. */
export interface HttpServing extends Serving {
  /** Where clients connect: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
}

/**
 * Serves any number of clients over HTTP.
 *
 * @throws CemError `AUTH_REQUIRED` for an address that others can reach without `auth`; `ADDRESS_UNUSABLE`.
 */
export async function serveHttp(server: Servable, options: HttpOptions = {}): Promise<HttpServing> {
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, auth, transport = "http" } = options;
  requireAuthBeyondLoopback(host, auth);
  const listening = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
  });
  listening.maxConnections = MAX_CONNECTIONS;
  await listen(listening, host, port);
  try {
    const { port: bound } = listening.address() as AddressInfo;
    const url = endpointOf(options, host, bound, transport === "sse" ? SSE_PATH : MCP_PATH);
    const front = new HttpFront(server, options, url, host);
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

function requireAuthBeyondLoopback(host: string, auth: AuthSettings | undefined): void {
  if (auth !== undefined || LOOPBACK.has(host)) return;
  throw new CemError(
    "AUTH_REQUIRED",
    `Listening on ${host || "every address"} would let anyone who can reach this machine run code. Set server.auth_token (CEM_SERVER_TOKEN) or server.auth_issuer, or listen on ${DEFAULT_HOST}.`,
    { details: { host } },
  );
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const hint = taken
        ? "Give another with --port, or 0 for any that is free."
        : "Give another with --host.";
      const message = `Can't listen on ${host}:${port}${taken ? ", which is taken" : `: ${error.message}`}. ${hint}`;
      reject(
        new CemError("ADDRESS_UNUSABLE", message, {
          details: { host, port, reason: error.code },
          cause: error,
        }),
      );
    });
    server.listen({ host, port }, resolve);
  });
}

/** Where clients connect. A public URL that has a path is taken as it is. */
function endpointOf({ publicUrl }: HttpOptions, host: string, port: number, path: string): URL {
  if (publicUrl === undefined) {
    return new URL(`http://${ANY_ADDRESS.has(host) ? "localhost" : bracketed(host)}:${port}${path}`);
  }
  const url = new URL(publicUrl);
  return url.pathname === "/" ? new URL(path, url) : url;
}
