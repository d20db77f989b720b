import type { ErrorInfo, JsonObject } from "@cem/core";
import type { RunStatus } from "../events.ts";
import { Outcomes } from "./outcomes.ts";
import type { StepOutcome } from "./outcomes.ts";
import { readJournal } from "./read-journal.ts";
import type { RunFolder, RunFolders, RunRecord } from "./run-folder.ts";
import { runHolder } from "./run-lock.ts";

/** A run in short. */
export interface RunSummary {
  run: string;
  workflow: string;
  version: string;
  status: RunStatus;
  /** In ISO 8601. */
  startedAt: string;
  updatedAt: string;
  /** How long it was at work, in milliseconds. */
  ms: number;
}

/** A run with what became of its steps. */
export interface RunDetails extends RunSummary {
  variables: JsonObject;
  definition: JsonObject;
  outputs: JsonObject;
  error: ErrorInfo | null;
  /** By path, without those within a step that has ended. */
  steps: readonly ({ step: string } & StepOutcome)[];
  /** Steps that may have been carried out, which a resume asks about. */
  uncertain: readonly string[];
}

/** @throws CemError `WORKFLOW_RUN_UNREADABLE` */
export async function summarizeRun(folders: RunFolders, place: RunFolder): Promise<RunSummary> {
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
  return {
    ...(await summaryOf(place, record, outcomes)),
    variables,
    definition,
    outputs,
    error,
    steps,
    uncertain,
  };
}

async function readRun(
  folders: RunFolders,
  place: RunFolder,
): Promise<{ record: RunRecord; outcomes: Outcomes }> {
  const outcomes = new Outcomes();
  const record = await folders.read(place);
  await readJournal(place.journal, outcomes.add);
  return { record, outcomes };
}

async function summaryOf(
  { id, folder }: RunFolder,
  { workflow, version, startedAt }: RunRecord,
  outcomes: Outcomes,
): Promise<RunSummary> {
  const running = runHolder(folder) === undefined ? "interrupted" : "running";
  const status = outcomes.end?.status ?? running;
  return {
    run: id,
    workflow,
    version,
    status,
    startedAt,
    updatedAt: outcomes.updatedAt ?? startedAt,
    ms: outcomes.ms,
  };
}
