import type { Agent, Approve, Elicit, JsonObject, Redactor, WorkflowStepKind } from "@cem/core";
import type { FindWorkflow, LoadedWorkflow } from "./definition/load-workflow.ts";
import type { WorkflowSource } from "./definition/workflow.ts";
import type { KeptRuns } from "./runs/clean-up.ts";
import type { RunStatus, WorkflowEvent, WorkflowResult } from "./runs/outcomes.ts";
import type { RunDetails, RunSummary } from "./runs/run-summary.ts";
import type { ToolNames } from "./steps/call-code.ts";

/** Settings of `createWorkflows`. */
export interface WorkflowsSettings {
  agent: Agent;
  /** The folder of runs, which code in the sandbox must not reach. Created with the first run. */
  runsDir: string;
  /** The folder around `runsDir`; without it, no run begins. Absent: missing folders are created. */
  ownerDir?: string | undefined;
  /**
   * Keeps personal values out of the journals. The agent must use the same redactor. Default: values are written as
   * they are.
   */
  redactor?: Redactor | undefined;
  /** Returns an agent whose guardrails satisfy all of these. Absent: workflows can't have guardrails. */
  agentWith?: ((guardrails: readonly JsonObject[]) => Promise<Agent>) | undefined;
  /** Types of steps besides the built-in ones. */
  stepKinds?: readonly WorkflowStepKind[] | undefined;
  /** Other names of tools. */
  toolNames?: ToolNames | undefined;
  /** Finds workflows that are part of others. Default: there are none. */
  find?: FindWorkflow | undefined;
  /**
   * Called for workflows with steps of types that are not built in; rejects if the workflow may not run. Identified by
   * its origin or, for a resumed run, by the file of its record and the workflow's name.
   */
  assertAllowed?: ((origin: string, workflow?: string) => Promise<void>) | undefined;
  /** Records that such a run was begun here, by its file and the workflow's name, so that it may be resumed. */
  allow?: ((file: string, workflow: string) => Promise<void>) | undefined;
  /** Limits of the ended runs that are kept. Absent: all are kept. */
  keep?: KeptRuns | undefined;
}

/** Options of {@link Workflows.run}. */
export interface RunWorkflowOptions {
  /** Values of the workflow's variables. */
  variables?: JsonObject | undefined;
  /** Cancels the run. It can be resumed. */
  signal?: AbortSignal | undefined;
  onEvent?: ((event: WorkflowEvent) => void) | undefined;
  /** Asks the user a question of a tool, or about a step that may have been executed. */
  onElicit?: Elicit | undefined;
  /** Asks a person to approve a call. */
  onApprove?: Approve | undefined;
  /** The session of its calls. Default: one of its own. */
  session?: string | undefined;
}

/** Options of {@link Workflows.resume}. */
export interface ResumeOptions extends Omit<RunWorkflowOptions, "session"> {
  /** Paths of steps to repeat although they may have been executed. */
  repeat?: readonly string[] | undefined;
  /** Results, by path, of uncertain steps that were in fact executed. */
  done?: JsonObject | undefined;
}

/** Executes workflows and keeps their runs. */
export interface Workflows {
  /**
   * Checks a workflow and all workflows that are part of it.
   *
   * @throws CemError `WORKFLOW_INVALID` with the line of each error, `WORKFLOW_NOT_FOUND`.
   */
  load(source: WorkflowSource): Promise<LoadedWorkflow>;
  /**
   * Checks a workflow as {@link load} does, and that its tools exist and its code can be parsed.
   *
   * @throws CemError as {@link load}.
   */
  validate(source: WorkflowSource, options?: Pick<RunWorkflowOptions, "signal">): Promise<LoadedWorkflow>;
  /**
   * Runs a workflow.
   *
   * @returns the result, also of a run that fails.
   * @throws CemError as {@link load}, `WORKFLOW_VARIABLES_INVALID`, `WORKFLOW_RUN_UNWRITABLE` before it began.
   */
  run(source: WorkflowSource, options?: RunWorkflowOptions): Promise<WorkflowResult>;
  /**
   * Continues a run where it stopped, with the definition it began with.
   *
   * @returns the result; for a run that had completed, its recorded result.
   * @throws CemError `WORKFLOW_RUN_NOT_FOUND`, `WORKFLOW_RUN_BUSY` when another process executes it,
   *   `WORKFLOW_RUN_UNREADABLE`, `OPTION_INVALID` for a decision about a step that needs none.
   */
  resume(run: string, options?: ResumeOptions): Promise<WorkflowResult>;
  /**
   * Cancels a run in any process. It can be resumed.
   *
   * @returns `running` when its process was asked but has not ended it yet.
   * @throws CemError `WORKFLOW_RUN_NOT_FOUND`
   */
  cancel(run: string): Promise<RunStatus>;
  /** The 200 most recently active runs, newest first. */
  list(): Promise<RunSummary[]>;
  /** @throws CemError `WORKFLOW_RUN_NOT_FOUND`, `WORKFLOW_RUN_UNREADABLE` */
  show(run: string): Promise<RunDetails>;
}
