import { CemError, DEFAULT_RUN_LIMITS, type RunLimits } from "@cem/core";

/** Timers of the runtime count in 32 bits. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * The limits of a run: the defaults, then each set of overrides.
 *
 * @throws CemError `LIMIT_INVALID` for a limit that is not a positive number.
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
  limits.timeoutMs = Math.min(limits.timeoutMs, MAX_TIMEOUT_MS);
  return limits;
}
