import type { LoadedConfig } from "@cem/config";
import type { AgentOptions } from "../agent-options.ts";
import { createLog } from "../log.ts";
import { createUpstream } from "./create-upstream.ts";
import type { Upstream } from "./create-upstream.ts";

/** The MCP servers of a configuration that was loaded, with its log. */
export function openUpstream(
  { config, variable }: LoadedConfig,
  { onLog }: Pick<AgentOptions, "onLog"> = {},
): Upstream {
  return createUpstream(config, { variable, log: createLog(config, onLog) });
}
