import type { ErrorInfo, JsonObject, JsonValue } from "@cem/core";
import type { Workflow, WorkflowStep } from "../definition/workflow.ts";
import type { Scope } from "../expressions/expression.ts";
import type { Execution, StepAtWork } from "./execution.ts";
import type { ListScope } from "./step-scope.ts";

/** A list of steps to run. */
export interface ListRequest {
  execution: Execution;
  /** The workflow that it belongs to. */
  workflow: Workflow;
  /** The step that it stands in, or the run. */
  at: StepAtWork;
  steps: readonly WorkflowStep[];
  /** What its steps find; their results are added. */
  scope: ListScope;
  /** What the paths of its steps begin with. */
  prefix: string;
}

/** How a step ended, as far as the others of its list have to know. */
export type StepEnd =
  | { status: "completed"; value: JsonValue; error?: ErrorInfo | undefined }
  | { status: "skipped"; error?: ErrorInfo | undefined }
  /** The list ends. */
  | { status: "failed"; error: ErrorInfo };

/** Runs the steps of a list. @returns the results by name. */
export type RunList = (request: ListRequest) => Promise<JsonObject>;

/** A step with everything it needs. */
export interface StepRequest {
  execution: Execution;
  workflow: Workflow;
  step: WorkflowStep;
  /** Of the list that it stands in. */
  outer: ListScope;
  /** What its own expressions find. */
  scope: Scope;
  at: StepAtWork;
  runList: RunList;
}

/** Whether a step only decides which others run, so that it can be done again. */
export function isContainer({ type }: WorkflowStep): boolean {
  return type === "condition" || type === "loop" || type === "workflow";
}

/** What a list needs of a step whose lists it runs. */
export function listOf({
  execution,
  workflow,
  at,
}: StepRequest): Pick<StepRequest, "execution" | "workflow" | "at"> {
  return { execution, workflow, at };
}
