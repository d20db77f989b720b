import type { Server } from "node:http";
import { assertKnownOptions, CemError } from "@cem/core";
import type { Servable } from "../agent-server.ts";
import { DEFAULT_HOST, DEFAULT_PORT } from "../limits.ts";
import { createLogger } from "../logger.ts";
import type { Serving } from "../stdio.ts";
import type { HttpApp } from "./app.ts";
import type { AuthSettings } from "./auth.ts";
import { bracketed, HTTP_OPTIONS, type HttpOptions } from "./options.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

const LOOPBACK = new Set(["127.0.0.1", "::1", "localhost"]);
const ANY_ADDRESS = new Set(["0.0.0.0", "::", ""]);

/** A server that listens for HTTP requests. */
export interface HttpServing extends Serving {
  /** The URL where clients connect: `http://127.0.0.1:3000/mcp`. */
  readonly url: string;
  /** The page for a browser: `http://127.0.0.1:3000/console/`. Absent if no mount has one. */
  readonly page: string | undefined;
  /** The address and port that it listens on: `127.0.0.1:3000`. */
  readonly address: string;
  /** Reach of the address: only this machine (`loopback`), other machines (`address`), or all interfaces (`every`). */
  readonly reach: "loopback" | "address" | "every";
}

/**
 * Serves any number of clients over HTTP.
 *
 * @throws CemError `ADDRESS_REFUSED` for an address that other machines can reach, without `auth`; `ADDRESS_UNUSABLE` if
 *   the server can't listen; `AUTH_INVALID` for a token that is too short; `OPTION_INVALID`.
 */
export async function serveHttp(server: Servable, options: HttpOptions = {}): Promise<HttpServing> {
  assertKnownOptions(options, HTTP_OPTIONS, "serveHttp");
  const { host = DEFAULT_HOST, port = DEFAULT_PORT, auth, transport = "http" } = options;
  const { trustedProxies = [], logger = createLogger() } = options;
  requireAuthBeyondLoopback(host, auth);
  const proxies = new TrustedProxies(trustedProxies);
  const [{ createHttpApp }, { listenForClients }] = await Promise.all([
    import("./app.ts"),
    import("./listen.ts"),
  ]);
  // Loads only the transport that is used.
  const openTransport =
    transport === "sse"
      ? (await import("./sse.ts")).openSse
      : (await import("./streamable-http.ts")).openStreamableHttp;
  const { server: listening, port: bound } = await listenForClients(host, port, proxies);
  try {
    const opened = openTransport(server, options, logger);
    const url = endpointOf(options, host, bound, opened.path);
    const app = createHttpApp({ server, options, transport: opened, logger, proxies, url, host });
    listening.on("request", app.handle);
    const address = `${bracketed(host === "" ? "::" : host)}:${bound}`;
    const reach = LOOPBACK.has(host) ? "loopback" : ANY_ADDRESS.has(host) ? "every" : "address";
    const landing = options.mounts?.find((mount) => mount.landing !== undefined)?.landing;
    const page = landing === undefined ? undefined : new URL(landing, new URL("/", url)).href;
    return { url: url.href, page, address, reach, ...closing(listening, app, server) };
  } catch (error) {
    listening.close();
    throw error;
  }
}

function closing(listening: Server, app: HttpApp, server: Servable): Serving {
  const closed = Promise.withResolvers<void>();
  let done: Promise<void> | undefined;
  const close = async (graceMs?: number): Promise<void> => {
    app.stop();
    listening.close(() => closed.resolve());
    await server.runs.close(graceMs);
    await app.answered();
    await server.close();
    await app.close();
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
