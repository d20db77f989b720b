import type { LoadedConfig } from "@cem/config";
import type { AgentOptions } from "../agent-options.ts";
import { createLog } from "../log.ts";
import { createUpstream } from "./create-upstream.ts";
import type { Upstream, UpstreamOptions } from "./create-upstream.ts";

type LogTargets = { [Name in "log" | "onLog"]?: AgentOptions[Name] | undefined };

/** The MCP servers of a configuration that was loaded, with its log. */
export function openUpstream(
  { config, variable }: LoadedConfig,
  { log, onLog, ...options }: LogTargets & Omit<UpstreamOptions, "variable" | "log"> = {},
): Upstream {
  return createUpstream(config, { ...options, variable, log: log ?? createLog(config, onLog) });
}
