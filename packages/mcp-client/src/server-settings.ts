/** Which generation of the protocol to speak. `auto` speaks whatever the server does. */
export type ProtocolChoice = "auto" | "legacy" | "2026-07-28";

export interface StdioSettings {
  kind: "stdio";
  command: string;
  args?: readonly string[] | undefined;
  /** Added to a small, safe part of this process's environment: PATH, HOME, proxies, registries and the like. */
  env?: Readonly<Record<string, string>> | undefined;
  cwd?: string | undefined;
}

/** Streamable HTTP. A server that only knows the older SSE transport is found out and spoken to that way. */
export interface HttpSettings {
  kind: "http";
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** The HTTP+SSE transport of 2024. */
export interface SseSettings {
  kind: "sse";
  url: string;
  headers?: Readonly<Record<string, string>> | undefined;
}

export type TransportSettings = StdioSettings | HttpSettings | SseSettings;

/** A person signs in through the browser; without `clientId` the client registers itself. */
export interface AuthorizationCodeSettings {
  kind: "authorization-code";
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  scopes?: readonly string[] | undefined;
  /** Where an HTTPS document describes this client, for servers that take such a URL as the client's name. */
  clientMetadataUrl?: string | undefined;
  /** Port of the callback on 127.0.0.1. Default: any free one, kept for the next time. */
  callbackPort?: number | undefined;
}

/** A machine signs in with its own secret. */
export interface ClientCredentialsSettings {
  kind: "client-credentials";
  clientId: string;
  clientSecret: string;
  /** The authorization server the secret belongs to; it is sent to no other. */
  issuer: string;
  scopes?: readonly string[] | undefined;
}

export type AuthSettings = AuthorizationCodeSettings | ClientCredentialsSettings;

/** One MCP server and how to reach it. */
export interface McpServerSettings {
  /** What code and people call it. */
  name: string;
  transport: TransportSettings;
  /** Default: true. */
  enabled?: boolean | undefined;
  /** One call, in milliseconds, without the time a person was asked something. Default: {@link DEFAULT_TIMEOUT_MS}. */
  timeoutMs?: number | undefined;
  /** Connecting, in milliseconds. Default: {@link DEFAULT_CONNECT_TIMEOUT_MS}. */
  connectTimeoutMs?: number | undefined;
  /** Calls under way at once; more wait. Default: {@link DEFAULT_CONCURRENCY}. */
  concurrency?: number | undefined;
  /** Default: `auto`. */
  protocol?: ProtocolChoice | undefined;
  /** Default for HTTP without an `Authorization` header: `{ kind: "authorization-code" }`. */
  auth?: AuthSettings | undefined;
  /** Further values that must not appear in errors and logs, such as those taken from the environment. */
  secrets?: readonly string[] | undefined;
  /** The user's own notes. Kept, not read. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
}

export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_CONNECT_TIMEOUT_MS = 30_000;
export const DEFAULT_CONCURRENCY = 8;
