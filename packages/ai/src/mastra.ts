import type { Agent } from "@cem/core";
import { createTool, type Tool } from "@mastra/core/tools";
import { describeExecution, findTools } from "./describe-tools.ts";
import { EXECUTE_CODE, SEARCH_DESCRIPTION, SEARCH_TOOLS, textInputSchema } from "./options.ts";
import type { ApprovedCodeOptions, SearchToolsOptions } from "./options.ts";
import { askOnce, attachmentsFor, base64Of, type CodeOutput } from "./run-code.ts";

/** Creates the Mastra tool that runs code. Code that needs approval suspends the agent's run until it is approved or declined. */
export async function executeCodeTool(
  agent: Agent,
  options: ApprovedCodeOptions = {},
): Promise<Tool<{ code: string }>> {
  const { needsApproval = false } = options;
  const { isAsked, run } = askOnce(agent, options);
  return createTool({
    id: EXECUTE_CODE,
    description: await describeExecution(agent, options),
    inputSchema: textInputSchema("code"),
    execute: async ({ code }, { abortSignal }) => (await run(code, abortSignal)).output,
    requireApproval: needsApproval === false ? false : ({ code }) => isAsked(code),
    async toModelOutput(value) {
      const output = value as CodeOutput;
      const attachments = await attachmentsFor(agent, output, options);
      if (attachments.length === 0) return { type: "json", value: output };
      const media = attachments.map((attachment) => ({
        type: "media",
        mediaType: attachment.mimeType,
        data: base64Of(attachment),
      }));
      return { type: "content", value: [{ type: "text", text: JSON.stringify(output) }, ...media] };
    },
  });
}

/** Creates the Mastra tool that searches for tools. */
export function searchToolsTool(agent: Agent, options: SearchToolsOptions = {}): Tool<{ query: string }> {
  return createTool({
    id: SEARCH_TOOLS,
    description: SEARCH_DESCRIPTION,
    inputSchema: textInputSchema("query"),
    execute: ({ query }, { abortSignal }) => findTools(agent, query, options, abortSignal),
  });
}
