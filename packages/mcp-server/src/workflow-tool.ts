import type { ExecuteOptions, JsonObject, JsonSchema, TaskResult } from "@cem/core";

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
