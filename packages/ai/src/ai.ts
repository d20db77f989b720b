import type { Agent } from "@cem/core";
import type { Attachment } from "@cem/tool-files/answers";
import { describeExecution, findTools } from "./describe-tools.ts";
import { SEARCH_DESCRIPTION, textInputSchema } from "./options.ts";
import type { ApprovedCodeOptions, SearchToolsOptions, TextInputSchema } from "./options.ts";
import { askOnce, attachmentsFor, base64Of, fileNameOf, type CodeOutput } from "./run-code.ts";

interface CallOptions {
  abortSignal?: AbortSignal | undefined;
  toolCallId?: string | undefined;
}

/** A part of an output as shown to a model, in the form common to versions 6 and 7. */
type ModelOutputPart =
  | { type: "text"; text: string }
  | { type: "image-data"; data: string; mediaType: string }
  | { type: "file-data"; data: string; mediaType: string; filename: string };

/** An output as shown to a model. */
export type ModelOutput = { type: "json"; value: CodeOutput } | { type: "content"; value: ModelOutputPart[] };

/** A tool that runs code, in the form of the AI SDK. */
export interface ExecuteCodeTool {
  description: string;
  inputSchema: TextInputSchema<"code">;
  execute: (input: { code: string }, options?: CallOptions) => Promise<CodeOutput>;
  /** Present if some code needs a person's approval. */
  needsApproval?: (input: { code: string }, options?: CallOptions) => Promise<boolean>;
  toModelOutput: (options: { output: CodeOutput }) => Promise<ModelOutput>;
}

/** A tool that searches for tools, in the form of the AI SDK. */
export interface SearchToolsTool {
  description: string;
  inputSchema: TextInputSchema<"query">;
  execute: (input: { query: string }, options?: CallOptions) => Promise<string>;
}

/**
 * Creates the AI SDK tool that runs code. Its description contains the signatures that are available now.
 *
 * @example
 * ```ts
 * const tools = { execute_code: await executeCodeTool(agent), search_tools: searchToolsTool(agent) };
 * const { text } = await generateText({ model, tools, prompt, stopWhen: isStepCount(5) });
 * ```
 */
export async function executeCodeTool(
  agent: Agent,
  options: ApprovedCodeOptions = {},
): Promise<ExecuteCodeTool> {
  const { needsApproval = false } = options;
  const { isAsked, run } = askOnce(agent, options);
  return {
    description: await describeExecution(agent, options),
    inputSchema: textInputSchema("code"),
    async execute({ code }, { abortSignal, toolCallId } = {}) {
      return (await run(code, abortSignal, toolCallId)).output;
    },
    ...(needsApproval !== false && {
      needsApproval: ({ code }, { toolCallId } = {}) => isAsked(code, toolCallId),
    }),
    async toModelOutput({ output }) {
      const attachments = await attachmentsFor(agent, output, options);
      if (attachments.length === 0) return { type: "json", value: output };
      const files = attachments.map(partOf);
      return { type: "content", value: [{ type: "text", text: JSON.stringify(output) }, ...files] };
    },
  };
}

/** Creates the AI SDK tool that searches for tools. */
export function searchToolsTool(agent: Agent, options: SearchToolsOptions = {}): SearchToolsTool {
  return {
    description: SEARCH_DESCRIPTION,
    inputSchema: textInputSchema("query"),
    execute: ({ query }, { abortSignal } = {}) => findTools(agent, query, options, abortSignal),
  };
}

function partOf(attachment: Attachment): ModelOutputPart {
  const part = { data: base64Of(attachment), mediaType: attachment.mimeType };
  return attachment.type === "image"
    ? { type: "image-data", ...part }
    : { type: "file-data", ...part, filename: fileNameOf(attachment) };
}
