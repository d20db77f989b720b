import type { CatalogSnapshot, ExecuteOptions, Finding, RunOutcome } from "@cem/core";
import type { RepairHistory } from "./repair-history.ts";
import type { RunProgress } from "./run-progress.ts";
import type { Offered } from "./selection.ts";
import type { Stages } from "./stages.ts";

/** What the stages of one run have in common. */
export interface RunContext {
  stages: Stages;
  options: ExecuteOptions;
  /** Aborts when the caller cancels the run or the pipeline is disposed. */
  signal: AbortSignal;
  progress: RunProgress;
  /** The id of the run, as logs name it. */
  id: string;
}

/** Code on its way through review and sandbox. */
export interface Program {
  code: string;
  origin: "rules" | "llm" | "given";
  /** Whether its types need no check, since it is calls alone that satisfy the schemas. */
  isChecked?: boolean | undefined;
}

/** What a run has come to so far. Its result is made of it, also when the run is cancelled half-way. */
export interface RunState {
  catalog: CatalogSnapshot;
  offered: Offered;
  /** What a model is told of the data that the task is about. */
  facts: string | undefined;
  program: Program;
  /** Of the last review. */
  findings: readonly Finding[];
  /** Of the last attempt. `undefined` when its code was not run. */
  outcome: RunOutcome | undefined;
  readonly history: RepairHistory;
}
