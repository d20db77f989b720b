import { inspectServers } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { configSourceOf } from "../config-overrides.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { logOption } from "../log-option.ts";
import { renderServers, stateOf } from "../render-servers.ts";
import { safeData } from "../safe-text.ts";
import type { CommandContext } from "./index.ts";

type ServersInvocation = Extract<Invocation, { command: "servers" }>;

/** `cem servers`: every configured MCP server, tried. Fails when one that is switched on can't be used. */
export async function listServers(
  { options }: ServersInvocation,
  { signal }: CommandContext,
): Promise<Answer> {
  const servers = await inspectServers({ ...configSourceOf(options), ...logOption(options), signal });
  const safe = safeData(servers);
  const isUsable = servers.every(({ state }) => state === "ready" || state === "disabled");
  return {
    exitCode: isUsable ? EXIT_OK : EXIT_FAILED,
    data: { status: isUsable ? "success" : "error", servers },
    report: (style) => renderServers(safe, style),
    brief: () => safe.map((server) => `${server.name}: ${stateOf(server)}`).join("\n"),
  };
}
