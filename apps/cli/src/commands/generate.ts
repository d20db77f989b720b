import { generateTools } from "code-execution-mcp/admin";
import type { GeneratedServer } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { CommandContext } from "../command-context.ts";
import type { InvocationOf } from "../invocation.ts";
import { serverSourceOf } from "../config-source.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { settleTrust } from "../settle-trust.ts";
import { withHints } from "../hint.ts";
import { renderGenerated } from "../render-servers.ts";
import { safeData } from "../safe-text.ts";

/** `cem generate`: tools of MCP servers as files. Fails when a server failed, or a change waits for a yes. */
export async function generate(
  { servers, accept, learn, options }: InvocationOf<"generate">,
  context: CommandContext,
): Promise<Answer> {
  await settleTrust(options, context);
  const generated = await generateTools({
    ...serverSourceOf(options, context),
    servers: servers.length === 0 ? undefined : servers,
    accept,
    learn,
  });
  return answerToGenerated(withHints(generated));
}

function answerToGenerated(generated: readonly GeneratedServer[]): Answer {
  const safe = safeData(generated);
  const isDone = generated.every(({ state }) => state === "generated");
  return {
    exitCode: isDone ? EXIT_OK : EXIT_FAILED,
    data: { status: isDone ? "success" : "error", servers: generated },
    report: (style) => renderGenerated(safe, style),
    brief: () => safe.map(({ server, state }) => `${server}: ${state}`).join("\n"),
  };
}
