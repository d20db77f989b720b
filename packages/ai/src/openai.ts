import { CemError, type Agent } from "@cem/core";
import type { RunnerFunction } from "openai/helpers/responses-tool-runner";
import type { RunnableToolFunctionWithParse } from "openai/lib/RunnableFunction";
import { describeExecution, findTools } from "./describe-tools.ts";
import { EXECUTE_CODE, SEARCH_DESCRIPTION, SEARCH_TOOLS, textIn, textInputJsonSchema } from "./options.ts";
import type { ApprovedCodeOptions, ExecuteCodeOptions, SearchToolsOptions } from "./options.ts";
import { base64Of, fileNameOf, runCode, type CodeAnswer } from "./run-code.ts";

/** With `strict`, `runTools` would end at arguments that are no JSON; without it, the model is told. */
const CODE = { name: EXECUTE_CODE, parameters: textInputJsonSchema("code") };
const SEARCH = {
  name: SEARCH_TOOLS,
  description: SEARCH_DESCRIPTION,
  parameters: textInputJsonSchema("query"),
};

/**
 * Creates the tool for `chat.completions.runTools` that runs code. Chat Completions accepts only text from a tool, so
 * images stay handles, which code can read.
 */
export async function executeCodeTool(
  agent: Agent,
  options: ExecuteCodeOptions = {},
): Promise<RunnableToolFunctionWithParse<{ code: string }>> {
  return {
    type: "function",
    function: {
      ...CODE,
      description: await describe(agent, options),
      parse: (input) => ({ code: textIn(JSON.parse(input), "code") ?? "" }),
      async function({ code }, { controller }) {
        const { output } = await runCode(agent, code, options, false, controller.signal);
        return JSON.stringify(output);
      },
    },
  };
}

/** Creates the tool for `chat.completions.runTools` that searches for tools. */
export function searchToolsTool(
  agent: Agent,
  options: SearchToolsOptions = {},
): RunnableToolFunctionWithParse<{ query: string }> {
  return {
    type: "function",
    function: {
      ...SEARCH,
      parse: (input) => ({ query: textIn(JSON.parse(input), "query") ?? "" }),
      function: ({ query }, { controller }) => findTools(agent, query, options, controller.signal),
    },
  };
}

/**
 * Creates the Responses API function that runs code: for `ResponsesToolRunner`, or for your own loop, which declares `tool`
 * and answers calls with the result of `execute`.
 */
export async function executeCodeFunction(
  agent: Agent,
  options: ExecuteCodeOptions = {},
): Promise<RunnerFunction> {
  return {
    tool: { type: "function", ...CODE, strict: true, description: await describe(agent, options) },
    async execute(input, { signal } = { signal: undefined }) {
      return blocksOf(await runCode(agent, textIn(input, "code") ?? "", options, false, signal));
    },
  };
}

/** Creates the Responses API function that searches for tools. */
export function searchToolsFunction(agent: Agent, options: SearchToolsOptions = {}): RunnerFunction {
  return {
    tool: { type: "function", ...SEARCH, strict: true },
    execute: (input, { signal } = { signal: undefined }) =>
      findTools(agent, textIn(input, "query") ?? "", options, signal),
  };
}

/** Rejects options of other frameworks at run time too: a caller who relies on approvals must learn that they are not supported. */
function describe(agent: Agent, options: ApprovedCodeOptions) {
  const { needsApproval = false } = options;
  if (needsApproval === false) return describeExecution(agent, options);
  const message = "needsApproval has no effect with `openai`, which asks nobody. Ask in run.onApprove.";
  throw new CemError("OPTION_INVALID", message, { details: { option: "needsApproval" } });
}

function blocksOf({ output, attachments }: CodeAnswer): Awaited<ReturnType<RunnerFunction["execute"]>> {
  const text = JSON.stringify(output);
  if (attachments.length === 0) return text;
  const blocks = attachments.map((attachment) => {
    const data = `data:${attachment.mimeType};base64,${base64Of(attachment)}`;
    return attachment.type === "image"
      ? ({ type: "input_image", image_url: data, detail: "auto" } as const)
      : ({ type: "input_file", filename: fileNameOf(attachment), file_data: data } as const);
  });
  return [{ type: "input_text", text }, ...blocks];
}
