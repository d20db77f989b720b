import type { Elicit, ErrorInfo, JsonObject, JsonValue, Sample, ToolProgress } from "@cem/core";
import type { UnreadAnswer } from "../transport/large-answers.ts";
import type { LeftOutTool, RemoteTool } from "./tool-definitions.ts";

/** Options of a sign-in through the browser. */
export interface AuthorizeOptions {
  /** Shows the authorization URL to the user, usually by opening a browser. */
  openBrowser: (url: string) => void | Promise<void>;
  /** Cancels the sign-in. Without it, it fails after 5 minutes. */
  signal?: AbortSignal | undefined;
}

/** A question that could not be asked. */
export interface UnansweredQuestion {
  message: string;
  /** A sentence: `Nobody could be asked: …`. */
  reason: string;
}

/**
 * The state of a connection. `idle`: not needed yet, or may be reconnected at once. `down`: failed, and reconnected
 * after a backoff. `auth-required`: the server refused it without authorization.
 */
export type ServerState = "disabled" | "idle" | "connecting" | "ready" | "down" | "auth-required" | "closed";

/** The state of the connection to one server. */
export interface ServerStatus {
  name: string;
  state: ServerState;
  /** The transport in use, or the configured one before the first connection. */
  transport: "stdio" | "http" | "sse" | "custom";
  /** The negotiated protocol version, such as `2026-07-28`. Absent before the first connection. */
  protocol?: string | undefined;
  /** The name and version the server gives itself. */
  server?: { name: string; version: string } | undefined;
  /** Number of callable tools in the last list. */
  toolCount?: number | undefined;
  /** Number of tools that were left out of the last list. */
  leftOutCount?: number | undefined;
  /** Round trip of the last `tools/list` request, in milliseconds. */
  latencyMs?: number | undefined;
  /**
   * Which calls share a connection: the setting, with `auto` resolved to `session`; `stateless` for a server that can't
   * keep state, whose connections are shared.
   */
  sharing: "stateless" | "shared" | "session" | "run";
  /** Tools whose names suggest that the server keeps state between calls. Absent when they were never listed. */
  statefulTools?: string[] | undefined;
  lastError?: ErrorInfo | undefined;
  /** Milliseconds until the next attempt to connect. Only present during a backoff. */
  retryInMs?: number | undefined;
  /** Process id of a stdio server. */
  pid?: number | undefined;
}

/** The kinds of content that a server may have besides tools. */
export type ContentKind = "resources" | "prompts";

/** A notification about a server's resources or prompts: a list or a subscribed resource changed. */
export interface ContentChange {
  kind: ContentKind;
  /** The resource that was updated. Absent if the list changed. */
  uri?: string | undefined;
}

/** The tools of one server. */
export interface ToolList {
  tools: RemoteTool[];
  /** The same tools by name. */
  byName: ReadonlyMap<string, RemoteTool>;
  /** Listed tools that can't be offered. */
  leftOut: LeftOutTool[];
  /** Why the list is incomplete. Absent for a complete one. */
  cut?: string | undefined;
  /** The name and version the server gives itself. */
  server: { name: string; version: string };
  /** The negotiated protocol version. */
  protocol: string;
  /** Whether the server has resources and prompts. */
  offers: { resources: boolean; prompts: boolean };
  /** The server's instructions for its use. Untrusted text. */
  instructions?: string | undefined;
}

/** Options of one call to a server. */
export interface CallOptions {
  /** Cancels the call, also at the server. */
  signal: AbortSignal;
  onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Called with `true` when the call starts to wait for a person and with `false` when it stops. */
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
  /**
   * Asks the user on whose behalf the call is made.
   *
   * @defaultValue the `elicit` of the connections
   */
  elicit?: Elicit | undefined;
  /**
   * Passes sampling requests on to the client on whose behalf the call is made.
   *
   * @defaultValue they are refused
   */
  sample?: Sample | undefined;
  /** The id of the session the call belongs to. Questions are cancelled while calls of several sessions are running. */
  session?: string | undefined;
  /** The id of the run the call belongs to. All calls of a run without a session use one connection. */
  run?: string | undefined;
}

/** A tool's result as the server sent it. */
export interface RawToolResult {
  /** A large answer that was not parsed. It replaces all other members. */
  unread?: UnreadAnswer | undefined;
  content: JsonValue[];
  structuredContent?: JsonValue | undefined;
  isError: boolean;
  /** A question of the server during the call that could not be asked. */
  unansweredQuestion?: UnansweredQuestion | undefined;
}

/** A log entry, with secrets redacted. */
export interface LogEntry {
  /** The server's name. */
  server: string;
  level: "debug" | "info" | "warn" | "error";
  /** `stderr`: a line the server's process wrote. `protocol`: a logging notification. `client`: this package. */
  source: "stderr" | "protocol" | "client";
  message: string;
}

/** The lists that a server has in addition to its tools. */
export type ListKind = "resources" | "resourceTemplates" | "prompts";

/** Resources, resource templates or prompts. */
export interface ListedItems {
  /** The items as the server sent them. */
  items: JsonValue[];
  /** Why the list is incomplete. Absent for a complete one. */
  cut?: string | undefined;
}

/** A request to read or watch a resource, to render a prompt or to complete an argument of one. */
export type ServerRequest =
  | { method: "resources/read"; params: { uri: string } }
  | { method: "prompts/get"; params: { name: string; arguments?: Record<string, string> | undefined } }
  | { method: "completion/complete"; params: JsonObject }
  | { method: "resources/subscribe" | "resources/unsubscribe"; params: { uri: string } };
