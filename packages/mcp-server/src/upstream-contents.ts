import type { Elicit, JsonObject, Sample } from "@cem/core";

/** What the servers behind this one have besides tools. */
export const EXPOSED = ["resources", "prompts"] as const;
export type Exposed = (typeof EXPOSED)[number];

/** What {@link UpstreamContents.list} lists. */
export type UpstreamKind = "resources" | "resourceTemplates" | "prompts";

/** A request that one server behind this one answers. */
export type UpstreamRequest =
  | { method: "resources/read"; params: { uri: string } }
  | { method: "prompts/get"; params: { name: string; arguments?: Record<string, string> | undefined } }
  | { method: "completion/complete"; params: JsonObject }
  | { method: "resources/subscribe" | "resources/unsubscribe"; params: { uri: string } };

/** On whose behalf the servers behind are asked. */
export interface UpstreamOptions {
  signal: AbortSignal;
  /** The session of the client, which may have a connection of its own. */
  session?: string | undefined;
  elicit?: Elicit | undefined;
  sample?: Sample | undefined;
}

/** Resources and prompts of the servers behind this one. */
export interface UpstreamContents {
  /** The names of the servers that are switched on. */
  readonly servers: readonly string[];
  /** Lists what one server has. Empty where it has none of the kind. @throws CemError where it can't be reached. */
  list(server: string, kind: UpstreamKind, options: UpstreamOptions): Promise<readonly JsonObject[]>;
  request(server: string, request: UpstreamRequest, options: UpstreamOptions): Promise<JsonObject>;
  /** A URI of a server as clients of the session see it. Default: as it is. */
  shownUri?(server: string, uri: string, options: Pick<UpstreamOptions, "session">): string;
}
