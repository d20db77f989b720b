/** How the tests with random inputs run: few inputs that are always the same, or many new ones with `pnpm fuzz`. */
const runs = process.env["CEM_FUZZ_RUNS"];

/** Parameters of fast-check, which prints the seed with what fails. `CEM_FUZZ_SEED` repeats it. */
export function fuzzing(numRuns: number): { numRuns: number; seed: number; endOnFailure: boolean } {
  const seed = Number(
    process.env["CEM_FUZZ_SEED"] ?? (runs === undefined ? 20_261_122 : Date.now() % 2 ** 31),
  );
  return { numRuns: runs === undefined ? numRuns : Number(runs), seed, endOnFailure: runs !== undefined };
}

/** A timeout for one such test, in milliseconds. */
export const FUZZ_TIMEOUT_MS = runs === undefined ? 60_000 : 3_600_000;
