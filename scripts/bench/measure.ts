/** Times in milliseconds. */
export interface Sample {
  median: number;
  p95: number;
}

function sampleOf(times: readonly number[]): Sample {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { median: at(0.5), p95: at(0.95) };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Measures several things in turn, A B C A B C …, so that a machine that gets slower is slower for all of them.
 * The first round warms up and is not counted. `between` runs before each, unmeasured.
 */
export async function interleaved(
  subjects: Record<string, () => Promise<unknown>>,
  rounds: number,
  between: () => Promise<unknown> = async () => {},
): Promise<Map<string, Sample>> {
  const times = new Map<string, number[]>();
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, work] of Object.entries(subjects)) {
      await between();
      const ms = await timed(work);
      if (round > 0) times.set(name, [...(times.get(name) ?? []), ms]);
    }
  }
  return new Map([...times].map(([name, list]) => [name, sampleOf(list)]));
}

/** How often per second `work` gets done with `concurrency` of it under way. */
export async function throughput(
  work: () => Promise<unknown>,
  concurrency: number,
  seconds: number,
): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1000;
  let done = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < end) {
      await work();
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return done / ((performance.now() - started) / 1000);
}

/** Three digits that matter. */
export function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
