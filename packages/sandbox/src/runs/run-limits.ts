import { CemError, DEFAULT_RUN_LIMITS, MAX_TIMER_MS, type RunLimits } from "@cem/core";

/**
 * Merges limits over the defaults; later overrides win, `undefined` members are skipped.
 *
 * @throws CemError `LIMIT_INVALID` when a limit is not a finite number of at least 1 (`calls`, `outputBytes`: 0).
 */
export function resolveLimits(...overrides: readonly (Partial<RunLimits> | undefined)[]): RunLimits {
  const limits: RunLimits = { ...DEFAULT_RUN_LIMITS };
  for (const override of overrides) {
    for (const key of Object.keys(limits) as (keyof RunLimits)[]) {
      const value = override?.[key];
      if (value === undefined) continue;
      const lowest = key === "calls" || key === "outputBytes" ? 0 : 1;
      if (!Number.isFinite(value) || value < lowest) {
        throw new CemError("LIMIT_INVALID", `The limit ${key} is ${value}; it has to be ${lowest} or more.`, {
          details: { limit: key, value },
        });
      }
      limits[key] = value;
    }
  }
  limits.timeoutMs = Math.min(limits.timeoutMs, MAX_TIMER_MS);
  return limits;
}
