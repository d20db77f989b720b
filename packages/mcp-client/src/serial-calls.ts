import type { KnownTool } from "@cem/bridge";
import type { McpServerSettings } from "./server-settings.ts";
import type { RemoteTool } from "./tool-definitions.ts";

/**
 * Whose calls of a tool wait for each other. A tool that is not marked read-only may change something, and few servers
 * expect two changes at once. All sessions share a server that was started as a process; one behind a URL has many clients
 * in any case.
 */
export function serialOf(
  { annotations }: RemoteTool,
  { writes = "serial", transport }: McpServerSettings,
): KnownTool["serial"] {
  if (writes === "parallel" || annotations?.readOnlyHint === true) return undefined;
  return transport.kind === "stdio" ? "server" : "session";
}
