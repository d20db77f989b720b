import type { Isolation, RunOutcome, RunReport } from "@cem/core";

/** Why a guest was killed. */
export type KillReason = Extract<RunOutcome, { status: "killed" }>["reason"];

/** Why a run is refused: the code and message of its outcome. */
export interface RunRefusal {
  code: string;
  message: string;
}

/** The report of a run that ended before it had a guest. */
export function emptyReport(isolation: Isolation, startedAt: number): RunReport {
  return {
    output: "",
    outputDroppedBytes: 0,
    toolCalls: [],
    toolResults: [],
    isolation,
    durationMs: performance.now() - startedAt,
  };
}
