import type { Lazy, Redactor } from "@cem/core";
import type { AgentServerSettings } from "@cem/mcp-server";
import type { LoadedConfig } from "@cem/config";
import type { McpTools } from "@cem/mcp-tools";
import type { CemServer } from "../server-options.ts";
import type { Host } from "./host.ts";
import type { Log } from "./log.ts";

/** Resources and prompts are asked for outside of runs: their tokens can't be sent back. */
const EXPOSED = "exposed";

type Upstream = NonNullable<AgentServerSettings["upstream"]>;

/** The resources and prompts of the configured servers, which are opened when they are first asked for. */
export function upstreamOf(
  { config }: LoadedConfig,
  host: Lazy<Host>,
  redactor: Redactor | undefined,
): Upstream {
  const contents = async (): Promise<McpTools["contents"]> => (await host.get()).mcpTools.contents;
  return {
    servers: config.mcpServers.filter(({ enabled }) => enabled).map(({ name }) => name),
    list: async (server, kind, options) => (await contents()).list(server, kind, options),
    async request(server, request, options) {
      const result = await (await contents()).request(server, request, options);
      if (redactor === undefined) return result;
      await redactor.recognize?.(result, { session: EXPOSED, server });
      return redactor.tokenize(result, { session: EXPOSED, server });
    },
  };
}

/** Tells the clients of a server what changes at the servers behind it. */
export async function tellChanges(server: CemServer, host: Lazy<Host>, log: Log): Promise<void> {
  const { mcpTools } = await host.get();
  const { describeChange } = await import("@cem/mcp-tools");
  mcpTools.onToolsChanged((change) => server.listChanged("tools", describeChange(change)));
  mcpTools.contents.onChanged((name, { kind, uri }) => {
    if (uri !== undefined) return server.resourceUpdated(name, uri);
    log("info", `The ${kind} of server "${name}" changed.`);
    return server.listChanged(kind);
  });
}
