import { existsSync } from "node:fs";
import path from "node:path";
import { callListener, CemError, createRunClock, toErrorInfo } from "@cem/core";
import type { LoadedWorkflow } from "./definition/load-workflow.ts";
import { openJournal, type EndedStatus, type NewRecord } from "./runs/journal.ts";
import { readOutcomes, type Outcomes, type WorkflowEvent, type WorkflowResult } from "./runs/outcomes.ts";
import type { RunFolder, RunRecord } from "./runs/run-folder.ts";
import { createExecution, type Decisions, type RunParts } from "./steps/execution.ts";
import { RunInterrupted } from "./steps/failures.ts";
import type { ListScope } from "./steps/requests.ts";
import { runList } from "./steps/run-list.ts";
import { outputsOf } from "./steps/step-kinds.ts";
import type { RunWorkflowOptions } from "./workflows-port.ts";

/** The name of the file that requests the cancellation of a run. */
export const CANCEL_FILE = "cancel";
const CANCEL_POLL_MS = 500;
const STATUS_OF: Readonly<Record<string, EndedStatus>> = {
  ABORTED: "cancelled",
  WORKFLOW_TIMED_OUT: "timeout",
};

export interface RunRequest extends Omit<RunWorkflowOptions, "variables" | "session"> {
  loaded: LoadedWorkflow;
  place: RunFolder;
  record: RunRecord;
  isResumed: boolean;
  decisions: Decisions;
}

/** Runs a workflow in this process, from its beginning or from where an earlier process left it. */
export async function runWorkflow(shared: RunParts, request: RunRequest): Promise<WorkflowResult> {
  const { loaded, place, record, isResumed, decisions, signal, onElicit, onApprove } = request;
  const { workflow, parts } = loaded;
  const started = performance.now();
  const controller = new AbortController();
  const { outcomes, length } = await readOutcomes(place.journal);
  assertUndecided(decisions, outcomes, place.id);
  /** How long earlier processes worked on it. */
  const before = outcomes.ms;
  const now = (): number => before + (performance.now() - started);
  const resultOf = (ended: Pick<WorkflowResult, "status" | "outputs" | "error">): WorkflowResult => ({
    run: place.id,
    workflow: record.workflow,
    ...ended,
    ms: now(),
  });
  if (outcomes.end?.status === "success") return resultOf(outcomes.end);

  const journal = openJournal(place.journal, now, length);
  const write = async (line: NewRecord): Promise<void> => {
    outcomes.add(journal.append(line));
    await journal.flush();
  };

  const emit = (event: WorkflowEvent): void =>
    callListener(
      () => request.onEvent?.(event),
      (error) => process.emitWarning(`A listener of workflow events failed: ${String(error)}`),
    );

  const runSteps = async (setWaiting: (waiting: boolean) => void): Promise<WorkflowResult> => {
    await write({ type: isResumed ? "run-resumed" : "run-started" });
    const execution = createExecution({
      ...shared,
      id: place.id,
      session: record.session,
      folder: place.folder,
      startedAt: record.startedAt,
      parts,
      journal,
      outcomes,
      decisions,
      signal: controller.signal,
      emit,
      onElicit,
      onApprove,
    });
    const scope: ListScope = {
      variables: record.variables,
      steps: {},
      errors: {},
      run: { id: place.id, workflow: record.workflow, started_at: record.startedAt },
      loop: {},
    };
    const guardrails = workflow.guardrails === undefined ? [] : [workflow.guardrails];
    const at = { path: "", signal: controller.signal, guardrails, setWaiting };
    const results = await runList({ execution, workflow, at, steps: workflow.steps, scope, prefix: "" });
    const outputs = outputsOf(workflow, scope, results);
    await write({ type: "run-ended", status: "success", outputs, error: null });
    return resultOf({ status: "success", outputs, error: null });
  };

  /** Ends a run that did not complete. An interrupted run is not ended and can be resumed. */
  const end = async (thrown: unknown): Promise<WorkflowResult> => {
    const isEnded = !(thrown instanceof RunInterrupted) || controller.signal.aborted;
    const error = thrown instanceof RunInterrupted ? thrown.info : toErrorInfo(thrown);
    const status = STATUS_OF[isEnded ? error.code : ""] ?? "error";
    if (!isEnded || error.code === "WORKFLOW_RUN_UNWRITABLE")
      return resultOf({ status: "interrupted", outputs: {}, error });
    try {
      await write({ type: "run-ended", status, outputs: {}, error });
    } catch (unwritten) {
      return resultOf({ status: "interrupted", outputs: {}, error: toErrorInfo(unwritten) });
    }
    return resultOf({ status, outputs: {}, error });
  };

  const cancel = (): void =>
    controller.abort(new CemError("ABORTED", "The run was cancelled.", { details: { run: place.id } }));
  const poll = setInterval(() => {
    if (existsSync(path.join(place.folder, CANCEL_FILE))) cancel();
  }, CANCEL_POLL_MS).unref();
  signal?.addEventListener("abort", cancel, { once: true });
  if (signal?.aborted === true) cancel();
  const clock = startClock(loaded, place.id, controller);
  try {
    const { length: steps } = workflow.steps;
    emit({ type: "run-started", run: place.id, workflow: record.workflow, isResumed, steps });
    const result = await runSteps(clock?.setWaiting ?? (() => {})).catch(end);
    emit({ type: "run-ended", result });
    return result;
  } finally {
    clock?.stop();
    clearInterval(poll);
    signal?.removeEventListener("abort", cancel);
    await journal.close();
  }
}

function startClock({ workflow }: LoadedWorkflow, run: string, controller: AbortController) {
  const { timeoutMs, name } = workflow;
  if (timeoutMs === undefined) return undefined;
  // A resumed run has the whole timeout again, since the definition stays the same.
  const clock = createRunClock(timeoutMs, () => {
    const message = `Workflow ${JSON.stringify(name)} took longer than its timeout of ${timeoutMs / 1_000} s.`;
    controller.abort(new CemError("WORKFLOW_TIMED_OUT", message, { details: { run, timeoutMs } }));
  });
  clock.start();
  return clock;
}

/** @throws CemError `OPTION_INVALID` for a decision about a step whose outcome is known. */
function assertUndecided({ done, repeat }: Decisions, { steps }: Outcomes, run: string): void {
  const wrong = [...done.keys(), ...repeat].find((step) => steps.get(step)?.isUncertain !== true);
  if (wrong === undefined) return;
  const open = [...steps].flatMap(([step, { isUncertain }]) => (isUncertain ? [step] : []));
  const those = open.length === 0 ? "There is none." : `Those that may have been: ${open.join(", ")}.`;
  throw new CemError(
    "OPTION_INVALID",
    `Step ${wrong} of run ${run} is not one that may have been executed. ${those}`,
    { details: { run, step: wrong, uncertain: open } },
  );
}
