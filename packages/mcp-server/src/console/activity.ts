import type { ActivityAnswer } from "./schemas.ts";

const MINUTE_MS = 60_000;
const SHOWN_MINUTES = 60;
/** Maximum number of durations per minute used for percentiles: the first ones. */
const MAX_DURATIONS = 1_000;
const BYTES_PER_MIB = 1024 * 1024;

function emptyMinute() {
  return { runs: 0, unsuccessful: 0, tokensSaved: 0, durations: [] as number[], memoryBytes: 0 };
}

/** Figures of the runs of the last hour, by the minute. */
export class Activity {
  readonly #minutes = new Map<number, ReturnType<typeof emptyMinute>>();

  count({ ms, hasFailed, tokensSaved }: { ms: number; hasFailed: boolean; tokensSaved: number }): void {
    const now = Math.floor(Date.now() / MINUTE_MS);
    for (const minute of this.#minutes.keys()) {
      if (minute <= now - SHOWN_MINUTES) this.#minutes.delete(minute);
    }
    const minute = this.#minutes.get(now) ?? emptyMinute();
    this.#minutes.set(now, minute);
    minute.runs += 1;
    minute.unsuccessful += hasFailed ? 1 : 0;
    minute.tokensSaved += tokensSaved;
    if (minute.durations.length < MAX_DURATIONS) minute.durations.push(ms);
    minute.memoryBytes = Math.max(minute.memoryBytes, process.memoryUsage.rss());
  }

  /** The last hour, the latest minute last. */
  lastHour(): ActivityAnswer["minutes"] {
    const now = Math.floor(Date.now() / MINUTE_MS);
    return Array.from({ length: SHOWN_MINUTES }, (_, index) => {
      const minute = now - SHOWN_MINUTES + 1 + index;
      const at = new Date(minute * MINUTE_MS).toISOString();
      const counted = this.#minutes.get(minute);
      if (counted === undefined) return { at, runs: 0, unsuccessful: 0, tokensSaved: 0 };
      const { runs, unsuccessful, tokensSaved, durations, memoryBytes } = counted;
      const sorted = durations.toSorted((one, other) => one - other);
      const percentile = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
      return {
        at,
        runs,
        unsuccessful,
        tokensSaved,
        p50Ms: percentile(0.5),
        p95Ms: percentile(0.95),
        memoryMb: Math.round(memoryBytes / BYTES_PER_MIB),
      };
    });
  }
}
