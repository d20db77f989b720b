import { generateTools } from "code-execution-mcp/admin";
import type { GeneratedServer } from "code-execution-mcp/admin";
import type { Answer } from "../answer.ts";
import type { Invocation } from "../command-line.ts";
import { configSourceOf } from "../config-overrides.ts";
import { EXIT_FAILED, EXIT_OK } from "../exit-codes.ts";
import { logOption } from "../log-option.ts";
import { renderGenerated } from "../render-servers.ts";
import { safeData } from "../safe-text.ts";
import type { CommandContext } from "./index.ts";

type GenerateInvocation = Extract<Invocation, { command: "generate" }>;

/** `cem generate`: tools of MCP servers as files. Fails when a server failed, or a change waits for a yes. */
export async function generate(
  { servers, accept, learn, options }: GenerateInvocation,
  { signal }: CommandContext,
): Promise<Answer> {
  const generated = await generateTools({
    ...configSourceOf(options),
    ...logOption(options),
    ...(servers.length === 0 ? {} : { servers }),
    accept,
    learn,
    signal,
  });
  return answerToGenerated(generated);
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
