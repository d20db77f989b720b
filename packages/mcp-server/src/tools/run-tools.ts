import { FAILED_TOOLS, HOW_TO_CODE } from "@cem/tool-files/answers";
import { CemError, type JsonObject, type JsonSchema } from "@cem/core";
import type { ServerContext } from "@modelcontextprotocol/server";
import { MAX_CODE_CHARACTERS, MAX_TASK_CHARACTERS } from "../limits.ts";
import type { BeginRun } from "../runs/run.ts";
import { followRun } from "./follow-run.ts";
import {
  PROFILES,
  RUNS_CODE,
  declareTool,
  filesSentence,
  networkSentence,
  runRequest,
  seconds,
  text,
} from "./server-tool.ts";
import type { DeclaredTool, ToolAnswer, ToolHost } from "./server-tool.ts";

/** A workflow that is exposed as a tool. */
export interface WorkflowTool {
  /** 1 to 128 letters, digits, `_`, `-` and `.`; unique in the server. */
  name: string;
  description: string;
  /** JSON Schema of its variables. */
  inputSchema: JsonSchema;
}

/** Kept short, since every client's model reads it. The description of `execute_code` explains the output. */
const RUN_OUTPUT: JsonSchema = { type: "object" };

const executeCode = declareTool<{ code: string }>({
  name: "execute_code",
  title: "Execute code",
  profiles: ["full", "code"],
  description: ({ guest, runs }) =>
    [
      HOW_TO_CODE,
      networkSentence(guest),
      filesSentence(guest),
      guest.hasMcpServers === true
        ? "Resources of an MCP server: its mcp_resources_list and mcp_resources_read."
        : "",
      FAILED_TOOLS,
      "A large result is a handle {path, size}: read_result, or read the file in code.",
      `A run over ${seconds(runs.yieldAfterMs)} answers {run}: read_result waits for it.`,
    ]
      .filter((sentence) => sentence !== "")
      .join(" "),
  input: { type: "object", properties: { code: text }, required: ["code"] },
  output: RUN_OUTPUT,
  annotations: RUNS_CODE,
  maxCharacters: MAX_CODE_CHARACTERS,
  async handle({ code }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeCode(code, options);
    return startRun(host, { kind: "code", input: code, begin }, context);
  },
});

const executeTask = declareTool<{ task_description: string; verbose?: boolean | undefined }>({
  name: "execute_task",
  title: "Execute a task",
  profiles: ["full", "original"],
  description: ({ guest }) =>
    guest.hasModel === true
      ? "Have another model write and run the code for a task in words. If you can write code, execute_code is quicker and exact."
      : 'Do one plain order in words ("add 5 and 3", "get the weather for Oslo"): fixed rules turn it into calls, no model. If you can write code, use execute_code.',
  input: {
    type: "object",
    properties: { task_description: text, verbose: { type: "boolean", default: false } },
    required: ["task_description"],
  },
  output: RUN_OUTPUT,
  annotations: RUNS_CODE,
  maxCharacters: MAX_TASK_CHARACTERS,
  async handle({ task_description: task, verbose = false }, host, context) {
    const begin: BeginRun = (options) => host.agent.executeTask(task, options);
    return startRun(host, { kind: "task", input: task, begin }, context, verbose);
  },
});

export const RUN_TOOLS = [executeCode, executeTask];

/** Starts a run of the caller's session and follows it as long as a call may take. */
function startRun(
  host: ToolHost,
  run: Parameters<typeof runRequest>[2],
  context: ServerContext,
  verbose?: boolean,
): Promise<ToolAnswer> {
  const request = runRequest(host, context, run);
  return followRun(host, context, (waiter) => host.runs.start({ ...waiter, ...request }), verbose);
}

/** Declares a workflow as a tool of the server. Each call is a run, which may outlast the call and ask questions. */
export function workflowTool({ name, description, inputSchema }: WorkflowTool): DeclaredTool {
  return declareTool<JsonObject>({
    name,
    title: name,
    description,
    input: inputSchema,
    output: { type: "object" },
    annotations: RUNS_CODE,
    profiles: PROFILES,
    maxCharacters: MAX_TASK_CHARACTERS,
    async handle(variables, host, context) {
      const { runWorkflow } = host;
      if (runWorkflow === undefined) throw new CemError("WORKFLOW_NOT_FOUND", "Workflows can't be run here.");
      const input = `${name} ${JSON.stringify(variables)}`;
      const begin: BeginRun = (options) => runWorkflow(name, variables, options);
      return startRun(host, { kind: "task", input, begin }, context);
    },
  });
}
