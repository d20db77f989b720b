import { abandonOnAbort, MS_PER_SECOND } from "@cem/core";
import type { AgentEvent, ExecuteOptions, TaskResult } from "@cem/core";
import { measure, traced } from "@cem/core/telemetry";

type Stage = Extract<AgentEvent, { type: "stage-started" }>["stage"];

export type RunProgress = ReturnType<typeof createRunProgress>;

/** Reports the events of one run to its listener, and measures the stages. */
export function createRunProgress(onEvent: ExecuteOptions["onEvent"], signal: AbortSignal) {
  const begun = performance.now();
  const timings: TaskResult["timings"] = {};
  const emit = (event: AgentEvent): void => onEvent?.(event);
  return {
    emit,
    /**
     * Runs one stage. The time of a stage that is repeated adds up in `timings`.
     *
     * @returns the stage's result and how long it took this time, in milliseconds.
     * @throws the signal's reason if the run was cancelled before the stage or during any stage but `run`, which ends by
     *   itself and reports what was done.
     */
    async stage<T>(stage: Stage, work: () => Promise<T>): Promise<{ result: T; ms: number }> {
      signal.throwIfAborted();
      emit({ type: "stage-started", stage });
      const started = performance.now();
      try {
        const worked = traced(`cem.stage ${stage}`, { attributes: { "cem.stage": stage } }, work);
        const result = await (stage === "run" ? worked : abandonOnAbort(worked, signal));
        return { result, ms: elapsedSince(started) };
      } finally {
        const ms = elapsedSince(started);
        timings[stage] = rounded((timings[stage] ?? 0) + ms);
        measure("stageDuration", ms / MS_PER_SECOND, { stage });
      }
    },
    /** The milliseconds of every stage so far, and the total until now. */
    timings: (): TaskResult["timings"] => ({ ...timings, total: elapsedSince(begun) }),
  };
}

function elapsedSince(started: number): number {
  return rounded(performance.now() - started);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
