import { existsSync } from "node:fs";
import path from "node:path";
import { CemError, RunClock, toErrorInfo } from "@cem/core";
import type { Agent, Approve, Elicit, ErrorInfo, JsonObject, Redactor, WorkflowStepKind } from "@cem/core";
import type { LoadedWorkflow } from "./definition/load-workflow.ts";
import { Journal, readJournal } from "./runs/journal.ts";
import type { EndedStatus, NewRecord } from "./runs/journal.ts";
import { Outcomes } from "./runs/outcomes.ts";
import type { WorkflowEvent, WorkflowResult } from "./runs/outcomes.ts";
import type { RunFolder, RunRecord } from "./runs/run-folder.ts";
import type { ToolNames } from "./steps/call-code.ts";
import { Execution } from "./steps/execution.ts";
import type { Decisions } from "./steps/execution.ts";
import { RunInterrupted } from "./steps/failures.ts";
import type { ListScope } from "./steps/requests.ts";
import { runList } from "./steps/run-list.ts";
import { outputsOf } from "./steps/step-kinds.ts";

/** The name of the file that asks for the end of a run. */
export const CANCEL_FILE = "cancel";
const CANCEL_POLL_MS = 500;
const STATUS_OF: Readonly<Record<string, EndedStatus>> = {
  ABORTED: "cancelled",
  WORKFLOW_TIMED_OUT: "timeout",
};

/** The parts that runs share. */
export interface RunParts {
  agentFor: (guardrails: readonly JsonObject[]) => Promise<Agent>;
  redactor: Redactor | undefined;
  kinds: ReadonlyMap<string, WorkflowStepKind>;
  toolNames: ToolNames;
}

/** Options of {@link WorkflowRun}. */
export interface RunRequest {
  loaded: LoadedWorkflow;
  place: RunFolder;
  record: RunRecord;
  isResumed: boolean;
  decisions: Decisions;
  signal?: AbortSignal | undefined;
  onEvent?: ((event: WorkflowEvent) => void) | undefined;
  onElicit?: Elicit | undefined;
  onApprove?: Approve | undefined;
}

/** One run of a workflow in this process, from its beginning or from where an earlier process left it. */
export class WorkflowRun {
  readonly #parts: RunParts;
  readonly #request: RunRequest;
  readonly #started = performance.now();
  readonly #controller = new AbortController();
  /** How long earlier processes were at work. */
  #before = 0;

  constructor(parts: RunParts, request: RunRequest) {
    this.#parts = parts;
    this.#request = request;
  }

  /** @throws CemError `WORKFLOW_RUN_UNREADABLE`, `WORKFLOW_RUN_UNWRITABLE`, `OPTION_INVALID` */
  async run(): Promise<WorkflowResult> {
    const { place, signal } = this.#request;
    const outcomes = new Outcomes();
    const length = await readJournal(place.journal, outcomes.add);
    assertUndecided(this.#request.decisions, outcomes, place.id);
    this.#before = outcomes.ms;
    if (outcomes.end?.status === "success") return this.#result(outcomes.end);
    const now = (): number => this.#ms();
    const journal = Journal.open(place.journal, { now, length });
    const cancel = (): void =>
      this.#controller.abort(
        new CemError("ABORTED", "The run was cancelled.", { details: { run: place.id } }),
      );
    const poll = setInterval(() => {
      if (existsSync(path.join(place.folder, CANCEL_FILE))) cancel();
    }, CANCEL_POLL_MS).unref();
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    const clock = this.#startClock();
    try {
      return await this.#execute(journal, outcomes, clock);
    } finally {
      clock?.stop();
      clearInterval(poll);
      signal?.removeEventListener("abort", cancel);
      await journal.close();
    }
  }

  async #execute(journal: Journal, outcomes: Outcomes, clock: RunClock | undefined): Promise<WorkflowResult> {
    const { isResumed, loaded, place, record } = this.#request;
    const { workflow } = loaded;
    const write = async (line: NewRecord): Promise<void> => {
      outcomes.add(journal.append(line));
      await journal.flush();
    };
    this.#emit({
      type: "run-started",
      run: place.id,
      workflow: record.workflow,
      isResumed,
      steps: workflow.steps.length,
    });
    const result = await this.#steps(journal, outcomes, clock, write).catch((error: unknown) =>
      this.#ended(error, write),
    );
    this.#emit({ type: "run-ended", result });
    return result;
  }

  async #steps(
    journal: Journal,
    outcomes: Outcomes,
    clock: RunClock | undefined,
    write: (line: NewRecord) => Promise<void>,
  ): Promise<WorkflowResult> {
    const { isResumed, loaded, place, record, decisions, onElicit, onApprove } = this.#request;
    const { workflow, parts } = loaded;
    const setWaiting = clock?.setWaiting ?? (() => {});
    await write({ type: isResumed ? "run-resumed" : "run-started" });
    const execution = new Execution({
      ...this.#parts,
      id: place.id,
      session: record.session,
      folder: place.folder,
      startedAt: record.startedAt,
      parts,
      journal,
      outcomes,
      decisions,
      signal: this.#controller.signal,
      emit: (event) => this.#emit(event),
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
    const at = { path: "", signal: this.#controller.signal, guardrails, setWaiting };
    const results = await runList({ execution, workflow, at, steps: workflow.steps, scope, prefix: "" });
    const outputs = outputsOf(workflow, scope, results);
    await write({ type: "run-ended", status: "success", outputs, error: null });
    return this.#result({ status: "success", outputs, error: null });
  }

  /** The result of a run that did not complete. One that must not be ended now can be resumed. */
  async #ended(thrown: unknown, write: (line: NewRecord) => Promise<void>): Promise<WorkflowResult> {
    const isEnded = !(thrown instanceof RunInterrupted) || this.#controller.signal.aborted;
    const error = thrown instanceof RunInterrupted ? thrown.info : toErrorInfo(thrown);
    const status = STATUS_OF[isEnded ? error.code : ""] ?? "error";
    if (!isEnded || error.code === "WORKFLOW_RUN_UNWRITABLE")
      return this.#result({ status: "interrupted", outputs: {}, error });
    try {
      await write({ type: "run-ended", status, outputs: {}, error });
    } catch (unwritten) {
      return this.#result({ status: "interrupted", outputs: {}, error: toErrorInfo(unwritten) });
    }
    return this.#result({ status, outputs: {}, error });
  }

  #startClock(): RunClock | undefined {
    const { loaded, place } = this.#request;
    const { timeoutMs, name } = loaded.workflow;
    if (timeoutMs === undefined) return undefined;
    // A resume has all of it again: the definition, and with it the timeout, stays the same.
    const clock = new RunClock(timeoutMs, () => {
      const message = `Workflow ${JSON.stringify(name)} took longer than its timeout of ${timeoutMs / 1_000} s.`;
      this.#controller.abort(
        new CemError("WORKFLOW_TIMED_OUT", message, { details: { run: place.id, timeoutMs } }),
      );
    });
    clock.start();
    return clock;
  }

  #result(ended: {
    status: WorkflowResult["status"];
    outputs: JsonObject;
    error: ErrorInfo | null;
  }): WorkflowResult {
    const { place, record } = this.#request;
    return { run: place.id, workflow: record.workflow, ...ended, ms: this.#ms() };
  }

  #ms(): number {
    return this.#before + (performance.now() - this.#started);
  }

  #emit(event: WorkflowEvent): void {
    const warn = (error: unknown): void =>
      process.emitWarning(`A listener of workflow events failed: ${String(error)}`);
    try {
      // One that is asynchronous is not waited for.
      Promise.resolve(this.#request.onEvent?.(event) as unknown).catch(warn);
    } catch (error) {
      warn(error);
    }
  }
}

/** @throws CemError `OPTION_INVALID` for a decision about a step of which it is known whether it was executed. */
function assertUndecided({ done, repeat }: Decisions, { steps }: Outcomes, run: string): void {
  const wrong = [...done.keys(), ...repeat].find((step) => steps.get(step)?.isUncertain !== true);
  if (wrong === undefined) return;
  const open = [...steps].flatMap(([step, { isUncertain }]) => (isUncertain ? [step] : []));
  const those = open.length === 0 ? "There is none." : `Those that may have been: ${open.join(", ")}.`;
  throw new CemError(
    "OPTION_INVALID",
    `Step ${wrong} of run ${run} is none that may have been executed. ${those}`,
    { details: { run, step: wrong, uncertain: open } },
  );
}
