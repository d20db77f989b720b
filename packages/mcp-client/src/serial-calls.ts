import type { KnownTool } from "@cem/bridge";
import { isNamedAsChange } from "@cem/core/text";
import type { McpServerSettings } from "./server-settings.ts";
import type { RemoteTool } from "./tool-definitions.ts";

/**
 * Whose calls of a tool wait for each other. Few servers expect two changes at once; of a tool without annotations its name
 * tells whether it makes one. Sessions that share the process of a server share its queue.
 */
export function serialOf(
  { name, annotations }: RemoteTool,
  { writes = "serial", transport, connections }: McpServerSettings,
): KnownTool["serial"] {
  if (writes === "parallel" || !mayChange(name, annotations)) return undefined;
  return transport.kind === "stdio" && connections === "shared" ? "server" : "session";
}

function mayChange(name: string, annotations: RemoteTool["annotations"]): boolean {
  const { readOnlyHint, destructiveHint } = annotations ?? {};
  return readOnlyHint === undefined ? destructiveHint === true || isChange(name) : !readOnlyHint;
}

/** `add` alone is arithmetic. */
function isChange(name: string): boolean {
  return name !== "add" && isNamedAsChange(name);
}
