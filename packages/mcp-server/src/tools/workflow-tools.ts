import { CemError } from "@cem/core";
import type { JsonObject } from "@cem/core";
import { MAX_TASK_CHARACTERS } from "../limits.ts";
import { declareTool, RUNS_CODE } from "../server-tool.ts";
import type { BindTool } from "../server-tool.ts";
import type { WorkflowTool } from "../workflow-tool.ts";
import { startRun } from "./run-tools.ts";

/** A workflow as a tool of the server: a call is a run, which may outlast it and ask questions. */
export function workflowTool({ name, description, inputSchema }: WorkflowTool): BindTool {
  return declareTool<JsonObject>({
    name,
    title: name,
    description,
    input: inputSchema,
    output: { type: "object" },
    annotations: RUNS_CODE,
    maxCharacters: MAX_TASK_CHARACTERS,
    async handle(variables, host, context) {
      const { runWorkflow } = host;
      if (runWorkflow === undefined) throw new CemError("WORKFLOW_NOT_FOUND", "Workflows can't be run here.");
      const input = `${name} ${JSON.stringify(variables)}`;
      return startRun(
        host,
        { kind: "task", input, begin: (options) => runWorkflow(name, variables, options) },
        context,
      );
    },
  });
}
