import type { CatalogSnapshot, Finding, RunOutcome, Selection } from "@cem/core";
import type { RepairHistory } from "./repair-history.ts";
import type { Program } from "./run-context.ts";

/** What a run has come to so far. Its result is made of it, also when the run is cancelled half-way. */
export interface RunState {
  catalog: CatalogSnapshot;
  selection: Selection;
  program: Program;
  /** Of the last review. */
  findings: readonly Finding[];
  /** Of the last attempt. `undefined` when its code was not run. */
  outcome: RunOutcome | undefined;
  readonly history: RepairHistory;
}
