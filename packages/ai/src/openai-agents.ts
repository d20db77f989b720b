import type { Agent } from "@cem/core";
import { tool } from "@openai/agents";
import type { FunctionTool, ToolOutputFileContent, ToolOutputImage, ToolOutputText } from "@openai/agents";
import { describeExecution, findTools } from "./describe-tools.ts";
import { EXECUTE_CODE, SEARCH_DESCRIPTION, SEARCH_TOOLS, textIn, textInputSchema } from "./options.ts";
import type { ApprovedCodeOptions, SearchToolsOptions, TextInputSchema } from "./options.ts";
import { askOnce, base64Of, fileNameOf, type CodeAnswer } from "./run-code.ts";

/** Creates the OpenAI Agents SDK tool that runs code. Code that needs approval interrupts the run. */
export async function executeCodeTool<Context = unknown>(
  agent: Agent,
  options: ApprovedCodeOptions = {},
): Promise<FunctionTool<Context, TextInputSchema<"code">>> {
  const { needsApproval = false } = options;
  const { isAsked, run } = askOnce(agent, options);
  return tool<TextInputSchema<"code">, Context>({
    name: EXECUTE_CODE,
    description: await describeExecution(agent, options),
    parameters: textInputSchema("code"),
    execute: async ({ code }, _context, details) =>
      contentOf(await run(code, details?.signal, details?.toolCall?.callId)),
    // With a function, the SDK interrupts the run for arguments that it can't parse.
    ...(needsApproval !== false && {
      async needsApproval(_context: unknown, input: unknown, call?: string) {
        const code = textIn(input, "code");
        return code !== undefined && isAsked(code, call);
      },
    }),
    errorFunction: tellModel,
  });
}

/** Creates the OpenAI Agents SDK tool that searches for tools. */
export function searchToolsTool<Context = unknown>(
  agent: Agent,
  options: SearchToolsOptions = {},
): FunctionTool<Context, TextInputSchema<"query">> {
  return tool<TextInputSchema<"query">, Context>({
    name: SEARCH_TOOLS,
    description: SEARCH_DESCRIPTION,
    parameters: textInputSchema("query"),
    execute: ({ query }, _context, details) => findTools(agent, query, options, details?.signal),
    errorFunction: tellModel,
  });
}

type Content = ToolOutputText | ToolOutputImage | ToolOutputFileContent;

function contentOf({ output, attachments }: CodeAnswer): string | Content[] {
  const text = JSON.stringify(output);
  if (attachments.length === 0) return text;
  const files = attachments.map((attachment): Content => {
    const data = base64Of(attachment);
    const mediaType = attachment.mimeType;
    return attachment.type === "image"
      ? { type: "image", image: { data, mediaType }, detail: "auto" }
      : { type: "file", file: { data, mediaType, filename: fileNameOf(attachment) } };
  });
  return [{ type: "text", text }, ...files];
}

/** Replaces the framework's text, which only says that something went wrong. */
function tellModel(_context: unknown, error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
