import type { ServerStatus, ToolList } from "./connection-types.ts";
import type { ConnectionHealth } from "./connection-health.ts";
import type { Connection } from "./connection.ts";
import type { McpServerSettings } from "./server-settings.ts";

/**
 * The state of a server, as its connection shows it.
 *
 * @param tools - the last list of tools, if there is one.
 * @param latencyMs - the round trip of the request for it, in milliseconds.
 */
export function statusOf(
  { name, transport }: McpServerSettings,
  connection: Connection | undefined,
  { backoff: { waitMs }, lastError }: ConnectionHealth,
  tools: ToolList | undefined,
  latencyMs: number | undefined,
): ServerStatus {
  const { state = "idle", current } = connection ?? {};
  const server = current?.client.getServerVersion() ?? tools?.server;
  return {
    name,
    state,
    transport: current?.transportKind ?? transport.kind,
    protocol: current?.client.getNegotiatedProtocolVersion() ?? tools?.protocol,
    server: server && { name: server.name, version: server.version },
    toolCount: tools?.tools.length,
    leftOutCount: tools?.leftOut.length,
    latencyMs,
    lastError,
    retryInMs: waitMs === 0 ? undefined : waitMs,
    pid: current?.process?.pid ?? undefined,
  };
}
