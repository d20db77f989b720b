import type { ErrorInfo, JsonObject, JsonValue } from "@cem/core";
import type { Workflow, WorkflowStep } from "../definition/workflow.ts";
import type { Scope } from "../expressions/expression.ts";
import type { Execution, StepAtWork } from "./execution.ts";

export interface ListRequest {
  execution: Execution;
  workflow: Workflow;
  /** The step that contains it, or the run. */
  at: StepAtWork;
  steps: readonly WorkflowStep[];
  /** The scope of its steps; their results are added. */
  scope: ListScope;
  prefix: string;
}

/** How a step ended, as far as other steps of its list need to know. */
export type StepEnd =
  | { status: "success"; value: JsonValue; error?: ErrorInfo | undefined }
  | { status: "skipped"; error?: ErrorInfo | undefined }
  /** The list ends. */
  | { status: "error"; error: ErrorInfo };

/** Runs the steps of a list. @returns the results by name. */
export type RunList = (request: ListRequest) => Promise<JsonObject>;

export interface StepRequest {
  execution: Execution;
  workflow: Workflow;
  step: WorkflowStep;
  outer: ListScope;
  scope: Scope;
  at: StepAtWork;
  runList: RunList;
}

/** Whether a step only decides which others run, so that it can be repeated. */
export function isContainer({ type }: WorkflowStep): boolean {
  return type === "condition" || type === "loop" || type === "workflow";
}

/** The scope of expressions in a list's steps. The results of the steps are added as they arrive. */
export interface ListScope {
  variables: JsonObject;
  steps: JsonObject;
  errors: JsonObject;
  run: JsonObject;
  /** The variables of the enclosing loop. */
  loop: { item?: JsonValue; index?: number; previous?: JsonValue };
}

/** Creates the scope of the lists within a step: it sees the outer scope but adds nothing to it. */
export function innerScope(outer: ListScope, loop: ListScope["loop"] = outer.loop): ListScope {
  return { ...outer, steps: { ...outer.steps }, errors: { ...outer.errors }, loop };
}

export function scopeOf({ variables, steps, errors, run, loop }: ListScope, step: JsonObject): Scope {
  return { variables, steps, errors, run, step, ...loop };
}
