import type { JsonSchema } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { Progress } from "../progress.ts";
import { answerRun } from "../run-answer.ts";
import type { BeginRun, RunRegistry, RunRequest, RunView } from "../run-registry.ts";
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
  async handle({ code }, { agent, results, runs }, context) {
    const begin: BeginRun = (options) => agent.executeCode(code, { ...options, session: sessionOf(context) });
    return answerRun(await startRun(runs, "code", begin, context), results);
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
  async handle({ task_description: task, verbose = false }, { agent, results, runs }, context) {
    const begin: BeginRun = (options) => agent.executeTask(task, { ...options, session: sessionOf(context) });
    return answerRun(await startRun(runs, "task", begin, context), results, verbose);
  },
});

async function startRun(
  runs: RunRegistry,
  kind: RunRequest["kind"],
  begin: BeginRun,
  context: ServerContext,
): Promise<RunView> {
  const progress = new Progress(context);
  const { signal } = context.mcpReq;
  const view = await runs.start({ kind, begin, owner: ownerOf(context), signal, onEvent: progress.onEvent });
  await progress.finish();
  return view;
}
