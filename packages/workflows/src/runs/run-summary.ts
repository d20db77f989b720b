import { stat } from "node:fs/promises";
import type { ErrorInfo, JsonObject } from "@cem/core";
import { FileLock } from "@cem/core/files";
import { openJournal } from "./journal.ts";
import { readOutcomes, type Outcomes, type RunStatus, type StepOutcome } from "./outcomes.ts";
import { runLockOf, takeRun, type RunFolder, type RunFolders, type RunRecord } from "./run-folder.ts";

/** Summary of a run. */
export interface RunSummary {
  run: string;
  workflow: string;
  version: string;
  status: RunStatus | "unreadable";
  /** In ISO 8601. */
  startedAt: string;
  updatedAt: string;
  /** Working time, in milliseconds. */
  ms: number;
}

/** A run with the outcomes of its steps. */
export interface RunDetails extends RunSummary {
  variables: JsonObject;
  definition: JsonObject;
  outputs: JsonObject;
  error: ErrorInfo | null;
  /** By path, without those inside a step that has ended. */
  steps: readonly ({ step: string } & StepOutcome)[];
  /** Steps that may have been executed, about which a resume asks. */
  uncertain: readonly string[];
}

/** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
export async function summarizeRun(folders: RunFolders, place: RunFolder) {
  const { record, outcomes } = await readRun(folders, place);
  return summaryOf(place, record, outcomes);
}

/** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
export async function describeRun(folders: RunFolders, place: RunFolder): Promise<RunDetails> {
  const { record, outcomes } = await readRun(folders, place);
  const { variables, definition } = record;
  const { outputs = {}, error = null } = outcomes.end ?? {};
  const steps = [...outcomes.steps].map(([step, outcome]) => ({ step, ...outcome }));
  const uncertain = steps.filter(({ isUncertain }) => isUncertain).map(({ step }) => step);
  const summary = summaryOf(place, record, outcomes);
  return { ...summary, variables, definition, outputs, error, steps, uncertain };
}

/** Summarizes a run whose files are damaged. @throws an error when the run has no record, that is, before it has begun. */
export async function summarizeDamaged({ id, file }: RunFolder): Promise<RunSummary> {
  const at = (await stat(file)).mtime.toISOString();
  return { run: id, workflow: "", version: "", status: "unreadable", startedAt: at, updatedAt: at, ms: 0 };
}

/** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
export async function readRun(folders: RunFolders, place: RunFolder) {
  const record = await folders.read(place);
  return { record, ...(await readOutcomes(place.journal)) };
}

function summaryOf(place: RunFolder, { workflow, version, startedAt }: RunRecord, outcomes: Outcomes) {
  const { end, ms, updatedAt = startedAt } = outcomes;
  const status: RunStatus = end?.status ?? (FileLock.isHeld(runLockOf(place)) ? "running" : "interrupted");
  return { run: place.id, workflow, version, status, startedAt, updatedAt, ms };
}

/** Records the cancellation of a run. @throws CemError `WORKFLOW_RUN_BUSY` when a process has taken it meanwhile. */
export async function endRun(place: RunFolder): Promise<void> {
  const lock = await takeRun(place);
  try {
    const { outcomes, length } = await readOutcomes(place.journal);
    const journal = openJournal(place.journal, () => outcomes.ms, length);
    const error = { code: "ABORTED", message: "The run was cancelled.", details: { run: place.id } };
    journal.append({ type: "run-ended", status: "cancelled", outputs: {}, error });
    await journal.flush();
    await journal.close();
  } finally {
    lock.release();
  }
}
