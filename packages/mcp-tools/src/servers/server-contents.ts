import type { JsonObject } from "@cem/core";
import type { CallOptions, ContentChange, ListKind, ServerRequest } from "@cem/mcp-client";
import { connectionsFor } from "./mcp-servers.ts";
import type { McpServers } from "./mcp-servers.ts";

/** Resources and prompts of MCP servers, for a client that wants them from one place. */
export interface ServerContents {
  /** The names of the servers that are switched on. */
  readonly servers: readonly string[];
  /**
   * Lists what one server has. Empty where it has none of the kind.
   *
   * @throws CemError of the connection, or what is wrong with the server's settings.
   */
  list(server: string, kind: ListKind, options: CallOptions): Promise<readonly JsonObject[]>;
  /** Reads a resource, renders a prompt or completes an argument of one. @throws as `list`. */
  request(server: string, request: ServerRequest, options: CallOptions): Promise<JsonObject>;
  /** Calls the listener when a connected server said that its resources or prompts, or a resource that is watched, changed. */
  onChanged(listener: (server: string, change: ContentChange) => void): void;
}

/** @param onChanged - registers a listener at the connections, now or once they are made. */
export function createServerContents(
  servers: McpServers,
  onChanged: ServerContents["onChanged"],
): ServerContents {
  return {
    servers: [...servers.byName].filter(([, { enabled }]) => enabled).map(([name]) => name),
    async list(server, kind, options) {
      const connections = await connectionsFor(server, servers);
      const { items } = await connections.list(server, kind, options);
      return items.filter((item): item is JsonObject => typeof item === "object" && item !== null);
    },
    async request(server, request, options) {
      const connections = await connectionsFor(server, servers);
      return connections.request(server, request, options);
    },
    onChanged,
  };
}
