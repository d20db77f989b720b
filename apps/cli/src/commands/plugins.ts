import { listPlugins as findPlugins } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import type { InvocationOf } from "../invocation.ts";
import { renderPlugins } from "../render-plugins.ts";
import { safeData } from "../safe-text.ts";
import { settleTrust } from "../settle-trust.ts";

/** `cem plugins list`: loads the plugins and says of each what it adds, how long it takes and what went wrong. */
export async function listPlugins(
  { options }: InvocationOf<"plugins">,
  context: CommandContext,
): Promise<Answer> {
  await settleTrust(options, context);
  const plugins = await findPlugins(serverSourceOf(options, context));
  const isFailed = plugins.some(({ state }) => state === "failed");
  return {
    exitCode: isFailed ? EXIT_FAILED : EXIT_OK,
    data: { status: isFailed ? "error" : "success", plugins },
    report: (style) => renderPlugins(safeData(plugins), style),
    brief: () => plugins.map(({ name }) => name).join("\n"),
  };
}
