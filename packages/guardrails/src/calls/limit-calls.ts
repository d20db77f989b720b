import { CemError } from "@cem/core";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import { checkingGuard, matchTools, sessionOf } from "./guarded-call.ts";
import type { CallGuard } from "./guarded-call.ts";

/** How often each of some tools may be called. */
export interface RateLimit {
  /** Patterns of the tools, such as `weather.*`. Each tool is counted by itself. */
  tools: readonly string[];
  calls: number;
  /** In seconds. */
  per: number;
  /**
   * Whether each session has calls of its own, or all sessions share them.
   *
   * @defaultValue `session`
   */
  by?: "session" | "all" | undefined;
}

const MS_PER_SECOND = 1_000;

/** Refuses calls beyond the limits, in this process. It throws `RATE_LIMITED` with the wait in `details.retryAfterMs`. */
export function limitCalls(limits: readonly RateLimit[]): CallGuard {
  const compiled = limits.map((limit) => ({ ...limit, matches: matchTools(limit.tools) }));
  let limiters: Promise<RateLimiterMemory[]> | undefined;
  const load = async (): Promise<RateLimiterMemory[]> => {
    const { RateLimiterMemory } = await import("rate-limiter-flexible");
    return limits.map(({ calls, per }) => new RateLimiterMemory({ points: calls, duration: per }));
  };
  return checkingGuard(async ({ server, tool }, context) => {
    const counted: { limiter: RateLimiterMemory; key: string }[] = [];
    for (const [at, { matches, calls, per, by = "session" }] of compiled.entries()) {
      if (!matches(server, tool)) continue;
      const limiter = (await (limiters ??= load()))[at];
      if (limiter === undefined) continue;
      const owner = by === "session" ? sessionOf(context) : "";
      const key = JSON.stringify([owner, server, tool]);
      const refused = await limiter.consume(key).then(
        () => undefined,
        (answer: { msBeforeNext?: number }) => answer,
      );
      if (refused === undefined) {
        counted.push({ limiter, key });
        continue;
      }
      // A call that one limit refuses does not count in the others.
      await Promise.all(counted.map((one) => one.limiter.reward(one.key)));
      const retryAfterMs = Math.max(1, Math.ceil(refused.msBeforeNext ?? per * MS_PER_SECOND));
      const wait = Math.ceil(retryAfterMs / 100) / 10;
      throw new CemError(
        "RATE_LIMITED",
        `${server}.${tool} may be called ${calls} times in ${per} s, and was. Try again in ${wait} s.`,
        { details: { server, tool, calls, per, retryAfterMs } },
      );
    }
  });
}
