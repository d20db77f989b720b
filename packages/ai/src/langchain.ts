import type { Agent } from "@cem/core";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { describeExecution, findTools } from "./describe-tools.ts";
import { EXECUTE_CODE, SEARCH_DESCRIPTION, SEARCH_TOOLS, needsYes, textInputJsonSchema } from "./options.ts";
import type { ApprovedCodeOptions, SearchToolsOptions, TextInputJsonSchema } from "./options.ts";
import { base64Of, failed, fileNameOf, runCode } from "./run-code.ts";
import type { CodeAnswer } from "./run-code.ts";

/** A person's decision, in the form of LangChain's own approvals. */
type Decision =
  | { type: "approve" }
  | { type: "edit"; editedAction: { name?: string; args: { code: string } } }
  | { type: "reject"; message?: string };

/**
 * Creates the LangChain tool that runs code. Code that needs approval interrupts the graph, which needs a checkpointer,
 * with a request in the form of `humanInTheLoopMiddleware`. Resume with `new Command({ resume: { decisions: [{ type:
 * "approve" }] } })`. The artifact of the message is the complete output.
 */
export async function executeCodeTool(
  agent: Agent,
  options: ApprovedCodeOptions = {},
): Promise<DynamicStructuredTool<TextInputJsonSchema<"code">, { code: string }>> {
  const description = await describeExecution(agent, options);
  const execute = async ({ code }: { code: string }, signal: AbortSignal | undefined) => {
    if (!(await needsYes(agent, code, options))) return runCode(agent, code, options, false, signal);
    const decision = await decide(code);
    if (decision.type === "reject")
      return failed(decision.message ?? "A person refused this code: it was not run.");
    const approved = decision.type === "edit" ? decision.editedAction.args.code : code;
    return runCode(agent, approved, options, true, signal);
  };
  return new DynamicStructuredTool({
    name: EXECUTE_CODE,
    description,
    schema: textInputJsonSchema("code"),
    responseFormat: "content_and_artifact",
    async func(input: { code: string }, _manager, config) {
      const answer = await execute(input, config?.signal);
      return [contentOf(answer), answer.output];
    },
  });
}

/** Creates the LangChain tool that searches for tools. */
export function searchToolsTool(
  agent: Agent,
  options: SearchToolsOptions = {},
): DynamicStructuredTool<TextInputJsonSchema<"query">, { query: string }> {
  return new DynamicStructuredTool({
    name: SEARCH_TOOLS,
    description: SEARCH_DESCRIPTION,
    schema: textInputJsonSchema("query"),
    func: ({ query }: { query: string }, _manager, config) =>
      findTools(agent, query, options, config?.signal),
  });
}

/** Asks a person to decide. It first throws, which interrupts the graph, and returns when the graph is resumed. */
async function decide(code: string): Promise<Decision> {
  const { interrupt } = await import("@langchain/langgraph");
  const answer: unknown = interrupt({
    actionRequests: [{ name: EXECUTE_CODE, args: { code }, description: "This code is about to run." }],
    reviewConfigs: [{ actionName: EXECUTE_CODE, allowedDecisions: ["approve", "edit", "reject"] }],
  });
  const { decisions: [decision] = [] } = (answer ?? {}) as { decisions?: Decision[] };
  // Anything but an explicit approval is a rejection.
  if (decision?.type === "approve") return decision;
  if (decision?.type === "edit" && typeof decision.editedAction?.args?.code === "string") return decision;
  return { ...(decision?.type === "reject" && decision), type: "reject" };
}

type Block =
  | { type: "text"; text: string }
  | { type: "image"; mimeType: string; data: string }
  | { type: "file"; mimeType: string; data: string; metadata: { filename: string } };

function contentOf({ output, attachments }: CodeAnswer): string | Block[] {
  const text = JSON.stringify(output);
  if (attachments.length === 0) return text;
  const blocks = attachments.map((attachment): Block => {
    const { mimeType } = attachment;
    const data = base64Of(attachment);
    return attachment.type === "image"
      ? { type: "image", mimeType, data }
      : { type: "file", mimeType, data, metadata: { filename: fileNameOf(attachment) } };
  });
  return [{ type: "text", text }, ...blocks];
}
