import { randomUUID } from "node:crypto";
import { CemError, matchTools } from "@cem/core";
import { countCalls, type CallCounts, type Rate } from "./call-counts.ts";
import { checkingGuard, type CallGuard } from "./guarded-call.ts";

/** How often each matching tool may be called. */
export interface RateLimit extends Rate {
  /** Patterns of the tools, such as `weather.*`. Each tool is counted separately. */
  tools: readonly string[];
  /**
   * Whether the limit applies per session, or to all sessions together.
   *
   * @defaultValue `session`
   */
  by?: "session" | "all" | undefined;
}

/** Options of {@link limitCalls}. */
export interface LimitSettings {
  /** Counts the calls. Default: a counter of this guard. */
  counts?: CallCounts | undefined;
  /** Separates the calls of one owner from those of others with the same counter. */
  owner?: string | undefined;
}

/** Refuses calls beyond the limits. It throws `RATE_LIMITED` with the wait in `details.retryAfterMs`. */
export function limitCalls(
  limits: readonly RateLimit[],
  { counts = countCalls(), owner = "" }: LimitSettings = {},
): CallGuard {
  /** Calls without a session share one of this guard. */
  const unnamed = randomUUID();
  const wrong = limits.find(({ calls, per }) => !(calls >= 0 && per > 0));
  const message = `A limit of calls needs calls from 0 on and seconds above 0, not ${wrong?.calls} in ${wrong?.per} s.`;
  if (wrong !== undefined) throw new CemError("OPTION_INVALID", message);
  const compiled = limits.map((limit) => ({ ...limit, matches: matchTools(limit.tools) }));
  return checkingGuard(async (call, { session = unnamed }) => {
    const { server, tool } = call;
    const counted: { key: string; limit: RateLimit }[] = [];
    for (const [at, { matches, ...limit }] of compiled.entries()) {
      if (!matches(call)) continue;
      const { calls, per, by = "session" } = limit;
      const key = JSON.stringify([owner, by === "session" ? session : "", server, tool, at, per]);
      const waitMs = await counts.add(key, limit, 1);
      if (waitMs === undefined) {
        counted.push({ key, limit });
        continue;
      }
      // A call that one limit refuses does not count against the others.
      await Promise.all(counted.map((one) => counts.add(one.key, one.limit, -1)));
      const retryAfterMs = Math.max(1, Math.ceil(waitMs));
      const wait = Math.ceil(retryAfterMs / 100) / 10;
      throw new CemError(
        "RATE_LIMITED",
        `${server}.${tool} may be called ${calls} times in ${per} s, and was. Try again in ${wait} s.`,
        { details: { server, tool, calls, per, retryAfterMs } },
      );
    }
  });
}
