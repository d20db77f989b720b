export { createWorkflows } from "./workflows.ts";
export type { ResumeOptions, RunWorkflowOptions, Workflows, WorkflowsSettings } from "./workflows-port.ts";
export type { FindWorkflow, LoadedWorkflow } from "./definition/load-workflow.ts";
export type { WorkflowProblem } from "./definition/parse-workflow.ts";
export { inputSchemaOf } from "./definition/value-schema.ts";
export type {
  Retry,
  Workflow,
  WorkflowSource,
  WorkflowStep,
  WorkflowVariable,
} from "./definition/workflow.ts";
export type { RunStatus, WorkflowEvent, WorkflowResult, StepOutcome } from "./runs/outcomes.ts";
export type { RunDetails, RunSummary } from "./runs/run-summary.ts";
export { drawWorkflow } from "./graph.ts";
export type { DrawnStep } from "./graph.ts";
export type { ToolNames } from "./steps/call-code.ts";
