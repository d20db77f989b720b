import type { ErrorInfo, JsonObject, JsonValue, ToolProgress } from "@cem/core";
import { readJournal, type EndedStatus, type JournalRecord } from "./journal.ts";

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

export type Outcomes = ReturnType<typeof createOutcomes>;

function createOutcomes() {
  const all = new Map<string, StepOutcome>();
  const isWithinDone = (step: string): boolean => {
    const parent = parentOf(step);
    return parent !== undefined && (all.get(parent)?.status === "success" || isWithinDone(parent));
  };
  const outcomes = {
    /** Working time of the run. */
    ms: 0,
    /** In ISO 8601. */
    startedAt: undefined as string | undefined,
    updatedAt: undefined as string | undefined,
    end: undefined as { status: EndedStatus; outputs: JsonObject; error: ErrorInfo | null } | undefined,
    /** The steps, without those inside a step that has its result. */
    get steps(): ReadonlyMap<string, StepOutcome> {
      return new Map([...all].filter(([step]) => !isWithinDone(step)));
    },
    of: (step: string) => all.get(step),
    add: (record: JournalRecord): void => {
      outcomes.ms = Math.max(outcomes.ms, record.ms);
      outcomes.startedAt ??= record.at;
      outcomes.updatedAt = record.at;
      if (record.type === "run-ended") {
        const { status, outputs, error } = record;
        outcomes.end = { status, outputs, error };
        return;
      }
      if (record.type === "run-resumed") outcomes.end = undefined;
      if (!("step" in record)) return;
      const { step } = record;
      const attempts = "attempt" in record ? record.attempt : (all.get(step)?.attempts ?? 0);
      all.set(step, {
        status: STATUS_AFTER[record.type],
        value: "value" in record ? record.value : undefined,
        error: "error" in record ? record.error : undefined,
        attempts,
        isUncertain:
          record.type === "step-started" || ("isUncertain" in record && record.isUncertain === true),
      });
    },
  };
  return outcomes;
}

/** Reads the state of a run from its journal, and the number of bytes up to the end of the journal's last whole line. */
export async function readOutcomes(journal: string) {
  const outcomes = createOutcomes();
  return { outcomes, length: await readJournal(journal, outcomes.add) };
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
