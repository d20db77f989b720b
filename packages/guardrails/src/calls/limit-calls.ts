import { CemError } from "@cem/core";
import type { InvokeContext, JsonValue } from "@cem/core";
import type { RateLimiterMemory } from "rate-limiter-flexible";
import { checkingGuard, matchTools, PerSubject, sessionOf } from "./guarded-call.ts";
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
    for (const [at, { matches, calls, per, by = "session" }] of compiled.entries()) {
      if (!matches(server, tool)) continue;
      const limiter = (await (limiters ??= load()))[at];
      const owner = by === "session" ? sessionOf(context) : "";
      const refused = await limiter?.consume(JSON.stringify([owner, server, tool])).then(
        () => undefined,
        (answer: { msBeforeNext?: number }) => answer,
      );
      if (refused === undefined) continue;
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

/** Limits on the total that the calls of one run or session may use. */
export interface Budget {
  /**
   * Patterns of the tools whose calls count.
   *
   * @defaultValue all
   */
  tools?: readonly string[] | undefined;
  /** @defaultValue `run` */
  per?: "run" | "session" | undefined;
  calls?: number | undefined;
  /** Bytes of arguments and results, as JSON. */
  bytes?: number | undefined;
  /** Seconds that the tools take. */
  seconds?: number | undefined;
  /** Cost, in the unit of `costs`. */
  cost?: number | undefined;
}

/** Settings of {@link spendBudgets}. */
export interface BudgetSettings {
  budgets: readonly Budget[];
  /** Cost of one call by pattern of tools. The first that matches counts. */
  costs?: Readonly<Record<string, number>> | undefined;
}

interface Spent {
  calls: number;
  bytes: number;
  seconds: number;
  cost: number;
}

const UNITS = ["calls", "bytes", "seconds", "cost"] as const;

/**
 * Refuses calls once a budget is used up: calls and cost before the call that would exceed them, bytes and seconds after
 * the one that did. It throws `BUDGET_EXCEEDED`.
 */
export function spendBudgets({ budgets, costs = {} }: BudgetSettings): CallGuard {
  const accounts = budgets.map((budget) => ({
    budget,
    matches: matchTools(budget.tools ?? ["*"]),
    spent: new PerSubject<Spent>(() => ({ calls: 0, bytes: 0, seconds: 0, cost: 0 })),
  }));
  const prices = Object.entries(costs).map(([pattern, price]) => ({ matches: matchTools([pattern]), price }));
  return (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      const { server, tool, args } = call;
      const cost = prices.find(({ matches }) => matches(server, tool))?.price ?? 0;
      const due = accounts
        .filter(({ matches }) => matches(server, tool))
        .map(({ budget, spent }) => ({ budget, spent: spent.get(subjectOf(budget, context)) }));
      const argBytes = due.some(({ budget }) => budget.bytes !== undefined) ? bytesOf(args) : 0;
      for (const { budget, spent } of due) {
        const after: Spent = {
          ...spent,
          calls: spent.calls + 1,
          cost: spent.cost + cost,
          bytes: spent.bytes + argBytes,
        };
        const exceeded = UNITS.find((unit) => {
          const most = budget[unit];
          return most !== undefined && (after[unit] > most || (unit === "seconds" && spent.seconds >= most));
        });
        if (exceeded === undefined) continue;
        const { per = "run" } = budget;
        throw new CemError(
          "BUDGET_EXCEEDED",
          `${server}.${tool} may not be called any more: the calls of this ${per} may use ${budget[exceeded]} ${exceeded}, and have used ${round(spent[exceeded])}.`,
          { details: { server, tool, per, unit: exceeded, budget: budget[exceeded], used: spent[exceeded] } },
        );
      }
      for (const { spent } of due) {
        spent.calls += 1;
        spent.cost += cost;
        spent.bytes += argBytes;
      }
      const began = performance.now();
      try {
        const result = await next.invoke(call, context);
        const bytes = argBytes > 0 && result.ok ? bytesOf(result.value) : 0;
        for (const { spent } of due) spent.bytes += bytes;
        return result;
      } finally {
        for (const { spent } of due) spent.seconds += (performance.now() - began) / MS_PER_SECOND;
      }
    },
  });
}

/** Calls without a run's id count for their session. */
function subjectOf({ per = "run" }: Budget, context: InvokeContext): string {
  return JSON.stringify([sessionOf(context), per === "run" ? (context.run ?? null) : null]);
}

function bytesOf(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value) ?? "");
}

function round(used: number): number {
  return Math.round(used * 1_000) / 1_000;
}
