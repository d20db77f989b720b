import type { CatalogSnapshot, Finding, RunOutcome } from "@cem/core";
import type { RepairHistory } from "./repair-history.ts";
import type { Program } from "./run-context.ts";
import type { Offered } from "./selection.ts";

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
