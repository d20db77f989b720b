import type { McpTransportProvider } from "@cem/core";

/** The protocol version to speak. `legacy`: those before 2026-07-28. `auto`: whatever the server supports. */
export type ProtocolChoice = "auto" | "legacy" | "2026-07-28";

/**
 * Which calls share a connection. `session`: those of a session, including its concurrent runs, so that they share the
 * server's state; a run without a session has its own connection while it lasts. `run`: each concurrent run of a session
 * has its own connection, so that a question over stdio can be attributed to a run. `shared`: all calls, for a server that
 * keeps no client state and asks no questions. `auto`: same as `session`. A server that can't keep state (HTTP without a
 * session, protocol 2026-07-28) is shared in any case.
 */
export type ConnectionSharing = "auto" | "shared" | "session" | "run";

/** A server that runs as a child process and communicates over its standard input and output. */
export interface StdioSettings {
  kind: "stdio";
  command: string;
  args?: readonly string[] | undefined;
  /** Added to PATH, HOME and the network variables (proxies, certificates, registries); no other variables are passed on. */
  env?: Readonly<Record<string, string>> | undefined;
  /**
   * Looks up a variable that the process is not given, to explain why it does not start.
   *
   * @defaultValue this process's environment
   */
  variable?: ((name: string) => string | undefined) | undefined;
  /** The working directory of the process. Default: that of this process. */
  cwd?: string | undefined;
}

/**
 * A server over HTTP. `http`: Streamable HTTP; one that only supports the older HTTP+SSE transport is detected. `sse`: the
 * HTTP+SSE transport of protocol version 2024-11-05.
 */
export interface HttpSettings {
  kind: "http" | "sse";
  url: string;
  /** Sent with each request to the server's own origin. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A server with a custom transport. */
export interface CustomSettings extends Pick<HttpSettings, "url" | "headers"> {
  kind: "custom";
  provider: McpTransportProvider;
}

/** How a server is reached. */
export type TransportSettings = StdioSettings | HttpSettings | CustomSettings;

/** OAuth authorization code flow: the user signs in through the browser. */
export interface AuthorizationCodeSettings {
  kind: "authorization-code";
  /** The id of a registered client. Absent: the client is registered dynamically. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  scopes?: readonly string[] | undefined;
  /** HTTPS URL of a client ID metadata document, for authorization servers that accept one as client id. */
  clientMetadataUrl?: string | undefined;
  /** Port of the redirect URI on 127.0.0.1. Default: any free port, which the next sign-in reuses. */
  callbackPort?: number | undefined;
}

/** OAuth client credentials flow, without a user. */
export interface ClientCredentialsSettings {
  kind: "client-credentials";
  clientId: string;
  clientSecret: string;
  /** The issuer URL of the authorization server. The secret is sent to no other. */
  issuer: string;
  scopes?: readonly string[] | undefined;
}

/** How requests to a server are authorized. */
export type AuthSettings = AuthorizationCodeSettings | ClientCredentialsSettings;

/** Settings of one MCP server. */
export interface McpServerSettings {
  /** The name by which code calls the server. */
  name: string;
  transport: TransportSettings;
  /** @defaultValue `true` */
  enabled?: boolean | undefined;
  /**
   * Timeout of one request, in milliseconds. Progress restarts it, up to ten times in all; waiting for the user's
   * answer to a question does not count.
   *
   * @defaultValue 60,000
   */
  timeoutMs?: number | undefined;
  /**
   * Timeout of connecting, in milliseconds.
   *
   * @defaultValue 30,000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * Maximum number of concurrent requests; further ones are queued.
   *
   * @defaultValue no limit beyond the caller's
   */
  concurrency?: number | undefined;
  /**
   * Whether calls of tools that are not marked read-only are executed one after the other or concurrently.
   *
   * @defaultValue `"serial"`
   */
  writes?: "serial" | "parallel" | undefined;
  /** @defaultValue `"auto"` */
  protocol?: ProtocolChoice | undefined;
  /** @defaultValue `"auto"` */
  connections?: ConnectionSharing | undefined;
  /**
   * Maximum number of open connections, which over stdio are processes. At the maximum, the least recently used idle
   * connection is closed. While all are in use, further calls wait up to `timeoutMs`.
   *
   * @defaultValue 8
   */
  maxConnections?: number | undefined;
  /** Default for HTTP without an `Authorization` header: `{ kind: "authorization-code" }`. */
  auth?: AuthSettings | undefined;
  /** The customer whose sign-in is used. Errors name it. */
  customer?: string | undefined;
  /** Further values to redact from errors and logs. */
  secrets?: readonly string[] | undefined;
}

export const DEFAULT_MAX_CONNECTIONS = 8;
export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;

/** The setting that authenticates the caller of a server without a sign-in, such as `headers.Authorization`. */
export function tokenSetting({ transport, auth }: McpServerSettings): string | undefined {
  if (auth !== undefined || !("headers" in transport)) return undefined;
  const header = Object.keys(transport.headers ?? {}).find((key) => key.toLowerCase() === "authorization");
  return header && `headers.${header}`;
}
