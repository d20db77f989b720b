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
  /** Where runs are kept: a folder that code in the sandbox can't reach, made when the first begins. */
  runsDir: string;
  /** The folder around `runsDir`, without which no run begins. Absent: what is missing is made. */
  ownerDir?: string | undefined;
  /** Keeps personal values out of the journals. The agent has to have the same. Default: they are written as they are. */
  redactor?: Redactor | undefined;
  /** Gives an agent whose guardrails are as tight as all of these want it. Absent: workflows can't have any. */
  agentWith?: ((guardrails: readonly JsonObject[]) => Promise<Agent>) | undefined;
  /** Types of steps beside the built-in ones. */
  stepKinds?: readonly WorkflowStepKind[] | undefined;
  /** Other names of tools. */
  toolNames?: ToolNames | undefined;
  /** Finds workflows that are part of others. Default: there are none. */
  find?: FindWorkflow | undefined;
  /**
   * Rejects for a workflow that may not be run since it has steps of other types than the built-in ones: by its origin, or, of
   * a run that is resumed, by the file of what it began with and the workflow's name.
   */
  assertAllowed?: ((origin: string, workflow?: string) => Promise<void>) | undefined;
  /** Notes that such a run was begun here, by its file and the workflow's name, so that it may be resumed. */
  allow?: ((file: string, workflow: string) => Promise<void>) | undefined;
  /** Bounds of the ended runs that are kept. Absent: all are. */
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
  /** Asks a person whether a call may be made that needs a yes. */
  onApprove?: Approve | undefined;
  /** The session of its calls. Default: one of its own. */
  session?: string | undefined;
}

/** Options of {@link Workflows.resume}. */
export interface ResumeOptions extends Omit<RunWorkflowOptions, "session"> {
  /** Paths of steps that may have been executed and are to be repeated. */
  repeat?: readonly string[] | undefined;
  /** Steps that may have been executed and were, by their paths, with what they came to. */
  done?: JsonObject | undefined;
}

/** Executes workflows and keeps their runs. */
export interface Workflows {
  /**
   * Checks a workflow and all that are part of it.
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
   * Goes on with a run where it stood, with the definition it began with.
   *
   * @returns the result; of a run that had completed, what it came to.
   * @throws CemError `WORKFLOW_RUN_NOT_FOUND`, `WORKFLOW_RUN_BUSY` where another process carries it out,
   *   `WORKFLOW_RUN_UNREADABLE`, `OPTION_INVALID` for a decision about a step that needs none.
   */
  resume(run: string, options?: ResumeOptions): Promise<WorkflowResult>;
  /**
   * Ends a run, in whatever process it is. It can be resumed.
   *
   * @returns `running` where its process was asked and has not ended it yet.
   * @throws CemError `WORKFLOW_RUN_NOT_FOUND`
   */
  cancel(run: string): Promise<RunStatus>;
  /** The 200 runs that were at work last, newest first. */
  list(): Promise<RunSummary[]>;
  /** @throws CemError `WORKFLOW_RUN_NOT_FOUND`, `WORKFLOW_RUN_UNREADABLE` */
  show(run: string): Promise<RunDetails>;
}
