import type { AuthInfo } from "@modelcontextprotocol/server";
import type { AuthSettings } from "./auth.ts";
import type { Logger } from "../logger.ts";

/** Where clients of Streamable HTTP connect. */
export const MCP_PATH = "/mcp";
/** Where clients of the legacy HTTP+SSE transport connect. */
export const SSE_PATH = "/sse";

/** Facts about a request to a mounted part. */
export interface MountContext {
  /** The client. Absent without authorization. */
  authInfo: AuthInfo | undefined;
  /** The parsed JSON body of the request. Absent if there is none. */
  body: unknown;
}

/** A part of the server besides MCP, with its own paths. */
export interface HttpMount {
  /** A path in Hono syntax: `/api/*` is `/api` and everything below. */
  path: string;
  /** `host`: the Host and Origin headers are checked. `token`: the authorization too, if the server requires it. */
  checks: "host" | "token";
  fetch: (request: Request, context: MountContext) => Promise<Response>;
  /** The target to which a browser that opens `/` is redirected, relative to it: `./console/`. Default: no redirect. */
  landing?: string | undefined;
  /** Answers a request with an unacceptable body. Default: as JSON-RPC. */
  refuse?: ((status: number, message: string) => Response) | undefined;
}

export interface HttpOptions {
  /** `http`: Streamable HTTP at `/mcp`. `sse`: the legacy HTTP+SSE transport at `/sse`. Default: `http`. */
  transport?: "http" | "sse" | undefined;
  /** The address to listen on. Anything but a loopback address needs `auth`. Default: 127.0.0.1. */
  host?: string | undefined;
  /** 0: any free port. Default: 3000. */
  port?: number | undefined;
  auth?: AuthSettings | undefined;
  /** The header in which a trusted proxy sends the owner of a request. Default: none. */
  ownerHeader?: string | undefined;
  /**
   * Addresses and ranges (`10.0.0.0/8`) of proxies: the client of their requests is taken from `X-Forwarded-For` or
   * `Forwarded`. Default: none, so that the peer is the client.
   */
  trustedProxies?: readonly string[] | undefined;
  /** The URL that clients use if it differs from the server's own address, as behind a proxy. */
  publicUrl?: string | undefined;
  /** Host names accepted in the Host header, in addition to loopback names and those of `host` and `publicUrl`. */
  allowedHosts?: readonly string[] | undefined;
  /** Host names of web pages that may send requests from a browser, in addition to loopback names. */
  allowedOrigins?: readonly string[] | undefined;
  /** Default: JSON lines on standard error. */
  logger?: Logger | undefined;
  /** Further paths, such as a console's. Default: none. */
  mounts?: readonly HttpMount[] | undefined;
  /** Maximum number of concurrent sessions and open SSE streams. Default: 1,000. */
  maxSessions?: number | undefined;
  /** The idle timeout of a session of the 2025-11-25 protocol and older, in milliseconds. Default: 30 minutes. */
  sessionIdleMs?: number | undefined;
}

export const HTTP_OPTIONS: Readonly<Record<keyof HttpOptions, true>> = {
  transport: true,
  host: true,
  port: true,
  auth: true,
  ownerHeader: true,
  trustedProxies: true,
  publicUrl: true,
  allowedHosts: true,
  allowedOrigins: true,
  logger: true,
  mounts: true,
  maxSessions: true,
  sessionIdleMs: true,
};

/** A host in URL form: an IPv6 address in brackets. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}
