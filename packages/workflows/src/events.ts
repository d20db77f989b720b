import type { ErrorInfo, JsonObject, ToolProgress } from "@cem/core";

/** How a run stands. `interrupted`: nobody carries it out, and it can be resumed. */
export type RunStatus = "running" | "completed" | "failed" | "cancelled" | "interrupted";

/** What a run came to. */
export interface WorkflowResult {
  run: string;
  workflow: string;
  status: Exclude<RunStatus, "running">;
  /** By name. Empty unless it is completed. */
  outputs: JsonObject;
  error: ErrorInfo | null;
  /** How long it was at work, in all its processes, in milliseconds. */
  ms: number;
}

/** What happens while a run is carried out. `step` is a path such as `loop[3].send`. */
export type WorkflowEvent =
  | { type: "run-started"; run: string; workflow: string; isResumed: boolean; steps: number }
  | { type: "step-started"; step: string; kind: string; attempt: number }
  | { type: "step-progressed"; step: string; progress: ToolProgress }
  | { type: "step-logged"; step: string; message: string }
  | { type: "step-retrying"; step: string; attempt: number; delayMs: number; error: ErrorInfo }
  /** `isKnown`: an earlier process did it. `error`: it failed, and the run goes on. */
  | { type: "step-completed"; step: string; ms: number; isKnown: boolean; error?: ErrorInfo | undefined }
  | { type: "step-failed"; step: string; ms: number; error: ErrorInfo }
  | { type: "step-skipped"; step: string; error?: ErrorInfo | undefined }
  | { type: "run-ended"; result: WorkflowResult };
