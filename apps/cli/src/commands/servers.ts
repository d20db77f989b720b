import { inspectServers } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { settleTrust } from "../settle-trust.ts";
import { withHints } from "../hint.ts";
import { renderServers, stateOf } from "../render-servers.ts";
import { safeData } from "../safe-text.ts";

/** `cem servers`: tries every configured MCP server. Fails when one that is switched on can't be used. */
export async function listServers(
  { options }: InvocationOf<"servers">,
  context: CommandContext,
): Promise<Answer> {
  await settleTrust(options, context);
  const servers = withHints(await inspectServers(serverSourceOf(options, context)));
  const safe = safeData(servers);
  const isUsable = servers.every(({ state }) => state === "ready" || state === "disabled");
  return {
    exitCode: isUsable ? EXIT_OK : EXIT_FAILED,
    data: { status: isUsable ? "success" : "error", servers },
    report: (style) => renderServers(safe, style),
    brief: () => safe.map((server) => `${server.name}: ${stateOf(server)}`).join("\n"),
  };
}
