import type { Elicit, JsonObject, Sample } from "@cem/core";

/** Kinds of contents of upstream servers, besides tools. */
export const EXPOSED = ["resources", "prompts"] as const;
export type Exposed = (typeof EXPOSED)[number];

/** Kinds of items that {@link UpstreamContents.list} lists. */
export type UpstreamKind = "resources" | "resourceTemplates" | "prompts";

/** A request to one upstream server. */
export type UpstreamRequest =
  | { method: "resources/read"; params: { uri: string } }
  | { method: "prompts/get"; params: { name: string; arguments?: Record<string, string> | undefined } }
  | { method: "completion/complete"; params: JsonObject }
  | { method: "resources/subscribe" | "resources/unsubscribe"; params: { uri: string } };

/** The client on whose behalf upstream servers are asked. */
export interface UpstreamOptions {
  signal: AbortSignal;
  /** The session of the client, which may have its own connection. */
  session?: string | undefined;
  elicit?: Elicit | undefined;
  sample?: Sample | undefined;
}

/** Resources and prompts of the upstream servers. */
export interface UpstreamContents {
  /** The names of the enabled servers. */
  readonly servers: readonly string[];
  /** Lists the items of one server. Empty if it has none of the kind. @throws CemError if it can't be reached. */
  list(server: string, kind: UpstreamKind, options: UpstreamOptions): Promise<readonly JsonObject[]>;
  request(server: string, request: UpstreamRequest, options: UpstreamOptions): Promise<JsonObject>;
  /** A URI of a server as shown to clients of the session. Default: unchanged. */
  shownUri?(server: string, uri: string, options: Pick<UpstreamOptions, "session">): string;
}

export interface UpstreamItem {
  server: string;
  item: JsonObject;
}
