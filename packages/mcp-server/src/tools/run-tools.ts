import type { JsonSchema } from "@cem/core";
import type { CallToolResult, InputRequiredResult, ServerContext } from "@modelcontextprotocol/server";
import { followRun } from "../follow-run.ts";
import type { BeginRun, RunRequest } from "../run.ts";
import type { ToolHost } from "../server-tool.ts";
import { declareTool, RUNS_CODE, sessionOf, text } from "../server-tool.ts";

/** `result` is any JSON; `run` is there instead of all but `output` while the run goes on. */
const RUN_OUTPUT: JsonSchema = {
  type: "object",
  properties: {
    success: { type: "boolean" },
    result: {},
    output: text,
    error: { type: ["string", "null"] },
    run: text,
  },
};

export const executeCode = declareTool<{ code: string }>({
  name: "execute_code",
  title: "Execute code",
  description:
    'Run TypeScript in a sandbox; `return` gives the result. Import tools found with search_tools: `import { tool } from "./servers/<server>/index.ts"`, then `await tool({ … })`. Files: /workspace.',
  input: { type: "object", properties: { code: text }, required: ["code"] },
  output: RUN_OUTPUT,
  annotations: RUNS_CODE,
  handle({ code }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeCode(code, options);
    return startRun(host, "code", begin, context);
  },
});

export const executeTask = declareTool<{ task_description: string; verbose?: boolean | undefined }>({
  name: "execute_task",
  title: "Execute a task",
  description: "Do a task given in plain words: choose tools, write the code, run it in a sandbox.",
  input: {
    type: "object",
    properties: { task_description: text, verbose: { type: "boolean", default: false } },
    required: ["task_description"],
  },
  output: RUN_OUTPUT,
  annotations: RUNS_CODE,
  handle({ task_description: task, verbose = false }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeTask(task, options);
    return startRun(host, "task", begin, context, verbose);
  },
});

function startRun(
  host: ToolHost,
  kind: RunRequest["kind"],
  beginRun: BeginRun,
  context: ServerContext,
  verbose?: boolean,
): Promise<CallToolResult | InputRequiredResult> {
  const session = sessionOf(context);
  const begin: BeginRun = (options) => beginRun({ ...options, ...session });
  return followRun(host, context, (waiter) => host.runs.start({ ...waiter, kind, begin }), verbose);
}
