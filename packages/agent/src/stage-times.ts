import type { Stage, TaskResult } from "@cem/core";

/** What each stage of one task took, in milliseconds. */
export class StageTimes {
  readonly #started = performance.now();
  readonly #timings: TaskResult["timings"] = {};
  readonly #last: Partial<Record<Stage, number>> = {};

  async during<T>(stage: Stage, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      const ms = elapsed(started);
      this.#last[stage] = ms;
      this.#timings[stage] = rounded((this.#timings[stage] ?? 0) + ms);
    }
  }

  /** Of the last time. A stage that is repeated counts as a whole in the timings. */
  last(stage: Stage): number {
    return this.#last[stage] ?? 0;
  }

  /** Every stage so far, and the total until now. */
  all(): TaskResult["timings"] {
    return { ...this.#timings, total: elapsed(this.#started) };
  }
}

function elapsed(started: number): number {
  return rounded(performance.now() - started);
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
