import { CemError } from "@cem/core";
import type { ExecuteOptions, JsonObject, JsonSchema, TaskResult } from "@cem/core";
import { declareTool, RUNS_CODE } from "../server-tool.ts";
import type { BindTool } from "../server-tool.ts";
import { startRun } from "./run-tools.ts";

/** A workflow that clients see as a tool. */
export interface WorkflowTool {
  /** 1 to 128 letters, digits, `_`, `-` and `.`; no other tool of the server has it. */
  name: string;
  description: string;
  /** JSON Schema of its variables. */
  inputSchema: JsonSchema;
}

/** Runs a workflow that is a tool, with what belongs to the customer of the request. */
export type RunWorkflowTool = (
  name: string,
  variables: JsonObject,
  options: ExecuteOptions,
) => Promise<TaskResult>;

/** A workflow as a tool of the server: a call is a run, which may outlast it and ask questions. */
export function workflowTool({ name, description, inputSchema }: WorkflowTool): BindTool {
  return declareTool<JsonObject>({
    name,
    title: name,
    description,
    input: inputSchema,
    output: { type: "object" },
    annotations: RUNS_CODE,
    async handle(variables, host, context) {
      const { runWorkflow } = host;
      if (runWorkflow === undefined) throw new CemError("WORKFLOW_NOT_FOUND", "Workflows can't be run here.");
      return startRun(host, "task", (options) => runWorkflow(name, variables, options), context);
    },
  });
}
