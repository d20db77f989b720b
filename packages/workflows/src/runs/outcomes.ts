import type { ErrorInfo, JsonObject, JsonValue, ToolProgress } from "@cem/core";
import type { EndedStatus, JournalRecord } from "./journal.ts";

/** The status of a run. `interrupted`: no process executes it, and it can be resumed. */
export type RunStatus = "running" | EndedStatus | "interrupted";

/** The result of a run. */
export interface WorkflowResult {
  run: string;
  workflow: string;
  status: Exclude<RunStatus, "running">;
  /** By name. Empty unless the run succeeded. */
  outputs: JsonObject;
  error: ErrorInfo | null;
  /** Working time, in all its processes, in milliseconds. */
  ms: number;
}

/** An event of a run. `step` is a path such as `loop[3].send`. */
export type WorkflowEvent =
  | { type: "run-started"; run: string; workflow: string; isResumed: boolean; steps: number }
  | { type: "step-started"; step: string; kind: string; attempt: number }
  | { type: "step-progressed"; step: string; progress: ToolProgress }
  | { type: "step-logged"; step: string; message: string }
  | { type: "step-retrying"; step: string; attempt: number; delayMs: number; error: ErrorInfo }
  /** `isKnown`: an earlier process executed it. `error`: it failed, and the run continues. */
  | { type: "step-completed"; step: string; ms: number; isKnown: boolean; error?: ErrorInfo | undefined }
  | { type: "step-failed"; step: string; ms: number; error: ErrorInfo }
  | { type: "step-skipped"; step: string; error?: ErrorInfo | undefined }
  | { type: "run-ended"; result: WorkflowResult };

/** The state of one step, from the journal. */
export interface StepOutcome {
  /** `running`: the step may have been executed. */
  status: "running" | "success" | "error" | "skipped";
  value?: JsonValue | undefined;
  error?: ErrorInfo | undefined;
  /** Whether a failed step may still have been executed. */
  isUncertain: boolean;
  attempts: number;
}

/** The state of a run, from its journal. */
export class Outcomes {
  readonly #steps = new Map<string, StepOutcome>();
  /** Working time of the run. */
  ms = 0;
  /** In ISO 8601. */
  startedAt: string | undefined;
  updatedAt: string | undefined;
  /** How the run ended. */
  end: { status: EndedStatus; outputs: JsonObject; error: ErrorInfo | null } | undefined;

  /** The steps, without those inside a step that has its result. */
  get steps(): ReadonlyMap<string, StepOutcome> {
    const isWithinDone = (step: string): boolean => {
      const parent = parentOf(step);
      return parent !== undefined && (this.#steps.get(parent)?.status === "success" || isWithinDone(parent));
    };
    return new Map([...this.#steps].filter(([step]) => !isWithinDone(step)));
  }

  of(step: string): StepOutcome | undefined {
    return this.#steps.get(step);
  }

  readonly add = (record: JournalRecord): void => {
    this.ms = Math.max(this.ms, record.ms);
    this.startedAt ??= record.at;
    this.updatedAt = record.at;
    if (record.type === "run-ended") {
      const { status, outputs, error } = record;
      this.end = { status, outputs, error };
      return;
    }
    if (record.type === "run-resumed") this.end = undefined;
    if (!("step" in record)) return;
    const { step } = record;
    const known = this.#steps.get(step);
    const attempts = "attempt" in record ? record.attempt : (known?.attempts ?? 0);
    this.#steps.set(step, {
      status: STATUS_AFTER[record.type],
      value: "value" in record ? record.value : undefined,
      error: "error" in record ? record.error : undefined,
      attempts,
      isUncertain: record.type === "step-started" || ("isUncertain" in record && record.isUncertain === true),
    });
  };
}

const STATUS_AFTER = {
  "step-started": "running",
  "step-completed": "success",
  "step-failed": "error",
  "step-skipped": "skipped",
} as const;

/** The step that contains a step: `loop` for `loop[3].send`. */
function parentOf(step: string): string | undefined {
  const end = step.lastIndexOf(".");
  if (end === -1) return undefined;
  return step.slice(0, end).replace(/\[\d+\]$/u, "");
}
