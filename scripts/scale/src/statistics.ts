/** Summary of many durations, in milliseconds. */
export interface Summary {
  count: number;
  mean: number;
  p50: number;
  p95: number;
  p99: number;
}

export function summarize(times: readonly number[]): Summary {
  const sorted = Float64Array.from(times).toSorted();
  const at = (part: number): number =>
    round(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0);
  const sum = sorted.reduce((total, time) => total + time, 0);
  return {
    count: sorted.length,
    mean: round(sum / Math.max(1, sorted.length)),
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  };
}

/** To a tenth: what is below is noise. */
export function round(value: number): number {
  return Math.round(value * 10) / 10;
}
