import type { JsonSchema } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { Progress } from "../progress.ts";
import { answerRun } from "../run-answer.ts";
import type { BeginRun, RunRequest, RunView } from "../run-registry.ts";
import type { ToolHost } from "../server-tool.ts";
import { declareTool, ownerOf, RUNS_CODE, sessionOf, text } from "../server-tool.ts";

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
  async handle({ code }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeCode(code, options);
    return answerRun(await startRun(host, "code", begin, context), host.results);
  },
});

export const executeTask = declareTool<{ task_description: string; verbose?: boolean }>({
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
  async handle({ task_description: task, verbose = false }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeTask(task, options);
    return answerRun(await startRun(host, "task", begin, context), host.results, verbose);
  },
});

async function startRun(
  { questions, runs }: ToolHost,
  kind: RunRequest["kind"],
  beginRun: BeginRun,
  context: ServerContext,
): Promise<RunView> {
  const progress = new Progress(context);
  const { signal } = context.mcpReq;
  const session = sessionOf(context);
  const begin: BeginRun = (options) => beginRun({ ...options, session });
  const request: RunRequest = { kind, begin, owner: ownerOf(context), signal, onEvent: progress.onEvent };
  const view = await questions.during(context, session, () => runs.start(request));
  await progress.finish();
  return view;
}
