/** A mean, and between which values it lies in 95 of 100 samples of as many queries. */
export interface Interval {
  mean: number;
  low: number;
  high: number;
}

const RESAMPLES = 1_000;
const SEED = 20_261_121;

/** The bootstrap: means of samples drawn with replacement, from a fixed seed. */
export function meanWithInterval(numbers: readonly number[]): Interval {
  const random = createRandom(SEED);
  const means: number[] = [];
  for (let round = 0; round < RESAMPLES; round++) {
    let sum = 0;
    for (let drawn = 0; drawn < numbers.length; drawn++) {
      sum += numbers[Math.floor(random() * numbers.length)] ?? 0;
    }
    means.push(sum / numbers.length);
  }
  const mean = numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
  return { mean, low: percentile(means, 0.025), high: percentile(means, 0.975) };
}

export function percentile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** Mulberry32: the same numbers on every machine. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
