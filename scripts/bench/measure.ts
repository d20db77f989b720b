/** Times in milliseconds, sorted. */
export interface Sample {
  median: number;
  p95: number;
  minimum: number;
  runs: number;
}

export function sampleOf(times: readonly number[]): Sample {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
  return { median: at(0.5), p95: at(0.95), minimum: at(0), runs: sorted.length };
}

export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/**
 * Measures several things in turn, A B C A B C …, so that a machine that gets slower is slower for all of them.
 * The first round warms up and is not counted.
 */
export async function interleaved<Name extends string>(
  subjects: Record<Name, () => Promise<unknown>>,
  rounds: number,
): Promise<Record<Name, Sample>> {
  const names = Object.keys(subjects) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of names) {
      const ms = await timed(subjects[name]);
      if (round > 0) times.get(name)?.push(ms);
    }
  }
  return Object.fromEntries(names.map((name) => [name, sampleOf(times.get(name) ?? [])])) as Record<
    Name,
    Sample
  >;
}

/** `work` as often as it can be done in `seconds`, `concurrency` at a time; in times per second. */
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

export function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}
