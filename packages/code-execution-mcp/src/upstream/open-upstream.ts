import type { LoadedConfig } from "@cem/config";
import type { AgentOptions } from "../agent-options.ts";
import { createLog } from "../log.ts";
import { createUpstream } from "./create-upstream.ts";
import type { Upstream, UpstreamOptions } from "./create-upstream.ts";

/** The MCP servers of a configuration that was loaded, with its log. */
export function openUpstream(
  { config, variable }: LoadedConfig,
  {
    onLog,
    ...options
  }: { onLog?: AgentOptions["onLog"] | undefined } & Omit<UpstreamOptions, "variable" | "log"> = {},
): Upstream {
  return createUpstream(config, { ...options, variable, log: createLog(config, onLog) });
}
