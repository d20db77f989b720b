import type { Elicit, ErrorInfo, JsonValue } from "@cem/core";
import type { LeftOutTool, RemoteTool } from "./tool-definitions.ts";

/** Where a server stands. `idle` has not been needed yet, or can be reconnected at once. */
export type ServerState = "disabled" | "idle" | "connecting" | "ready" | "down" | "auth-required" | "closed";

export interface ServerStatus {
  name: string;
  state: ServerState;
  transport: "stdio" | "http" | "sse";
  /** The negotiated revision, such as `2026-07-28`. Absent before the first connection. */
  protocol?: string | undefined;
  /** What the server calls itself. */
  server?: { name: string; version: string } | undefined;
  /** Tools that can be called, as of the last list. */
  toolCount?: number | undefined;
  /** Tools that are left out, as of the last list. */
  leftOutCount?: number | undefined;
  /** Round trip of the last list request, in milliseconds. */
  latencyMs?: number | undefined;
  lastError?: ErrorInfo | undefined;
  /** Until the next try to connect is made, in milliseconds. Only after failures. */
  retryInMs?: number | undefined;
  /** Of the server's process. Only for stdio. */
  pid?: number | undefined;
}

/** The tools of one server. */
export interface ToolList {
  tools: RemoteTool[];
  /** What the server lists and can't be offered. */
  leftOut: LeftOutTool[];
  /** Why the list ends before the server's own end. */
  cut?: string | undefined;
  /** What the server calls itself. */
  server: { name: string; version: string };
  protocol: string;
  /** Advice of the server on its use. Untrusted text. */
  instructions?: string | undefined;
}

export interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface CallOptions {
  signal: AbortSignal;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** A person is being asked (true), or has answered (false): clocks may stop meanwhile. */
  onWaiting?: ((isWaiting: boolean) => void) | undefined;
  /** Asks the user whose call it is. Default: the connections' own `elicit`. */
  elicit?: Elicit | undefined;
  /** Whose call it is. Questions are declined while calls of several sessions are under way. */
  session?: string | undefined;
}

/** A tool's answer as the server gave it. */
export interface RawToolResult {
  content: JsonValue[];
  structuredContent?: JsonValue | undefined;
  isError: boolean;
  /** A question of the server that nobody was there to answer. */
  declinedQuestion?: string | undefined;
}

/** What goes to the log, with secrets taken out. */
export interface LogEntry {
  server: string;
  level: "debug" | "info" | "warn" | "error";
  /** `stderr`: the server's process wrote it. `protocol`: the server sent it. `client`: this package says it. */
  source: "stderr" | "protocol" | "client";
  message: string;
}

/** A folder that servers may be told about. */
export interface Root {
  /** A `file:` URL. */
  uri: string;
  name?: string | undefined;
}
