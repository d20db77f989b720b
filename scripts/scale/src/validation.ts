import { randomExponential, randomLcg, randomUniform } from "d3-random";

/** A load that real workers and the simulation both get. Runs wait more than they compute, as those of agents do. */
export const VALIDATION = {
  workers: [1, 2, 4],
  slots: 2,
  seconds: 20,
  /** Part of the slots that is busy on average. */
  load: 0.7,
  holdMs: [100, 700],
  seed: 0.17,
} as const;

const MS_PER_SECOND = 1_000;

/** When runs arrive, and for how long each holds a slot. */
export function validationTrace(workers: number): { atMs: number; holdMs: number }[] {
  const { slots, seconds, load, holdMs, seed } = VALIDATION;
  const source = randomLcg(seed);
  const mean = (holdMs[0] + holdMs[1]) / 2;
  const gap = randomExponential.source(source)((workers * slots * load) / mean);
  const hold = randomUniform.source(source)(holdMs[0], holdMs[1]);
  const trace: { atMs: number; holdMs: number }[] = [];
  for (let atMs = gap(); atMs < seconds * MS_PER_SECOND; atMs += gap()) {
    trace.push({ atMs, holdMs: Math.round(hold()) });
  }
  return trace;
}
