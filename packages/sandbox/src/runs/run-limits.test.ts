import { DEFAULT_RUN_LIMITS } from "@cem/core";
import { describe, expect, it } from "vitest";
import { resolveLimits } from "./run-limits.ts";

describe("resolveLimits", () => {
  it("gives the defaults, without handing out the object itself", () => {
    expect(resolveLimits()).toEqual(DEFAULT_RUN_LIMITS);
    expect(resolveLimits()).not.toBe(DEFAULT_RUN_LIMITS);
    expect(resolveLimits(undefined, { memoryMb: undefined } as object)).toEqual(DEFAULT_RUN_LIMITS);
  });

  it("takes the last override of each limit", () => {
    const limits = resolveLimits({ calls: 5, timeoutMs: 10 }, undefined, { calls: 7 });
    expect(limits).toEqual({ ...DEFAULT_RUN_LIMITS, calls: 7, timeoutMs: 10 });
  });

  it("ignores members that are no limits", () => {
    expect(resolveLimits({ extra: 1 } as object)).toEqual(DEFAULT_RUN_LIMITS);
  });

  it.each(["timeoutMs", "memoryMb", "callsInFlight", "payloadBytes", "writeMb"])(
    "refuses %s below 1",
    (limit) => {
      expect(resolveLimits({ [limit]: 1 })).toMatchObject({ [limit]: 1 });
      let thrown: unknown;
      try {
        resolveLimits({ [limit]: 0.5 });
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toMatchObject({
        code: "LIMIT_INVALID",
        message: `The limit ${limit} is 0.5; it has to be 1 or more.`,
        details: { limit, value: 0.5 },
      });
    },
  );

  it.each(["calls", "outputBytes"])("takes 0 for %s, and refuses less", (limit) => {
    expect(resolveLimits({ [limit]: 0 })).toMatchObject({ [limit]: 0 });
    expect(() => resolveLimits({ [limit]: -1 })).toThrow(`The limit ${limit} is -1; it has to be 0 or more.`);
  });

  it("refuses what is not finite", () => {
    expect(() => resolveLimits({ timeoutMs: Number.NaN })).toThrow(/timeoutMs is NaN/);
    expect(() => resolveLimits({ memoryMb: Infinity })).toThrow(/memoryMb is Infinity/);
  });

  it("bounds the timeout to what a timer holds", () => {
    expect(resolveLimits({ timeoutMs: 1e15 }).timeoutMs).toBe(2_147_483_647);
  });
});
