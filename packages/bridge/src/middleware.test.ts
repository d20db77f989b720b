import { CemError } from "@cem/core";
import type { ToolInvoker, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { answerErrors, compose } from "./middleware.ts";
import type { Middleware } from "./middleware.ts";

const call = { server: "crm", tool: "find", args: {} };
const { signal } = new AbortController();

describe("compose", () => {
  it("runs the middlewares in order, the first outermost", async () => {
    const order: string[] = [];
    const named =
      (name: string): Middleware =>
      (next) => ({
        specificationVersion: "v1",
        async invoke(...request) {
          order.push(`before ${name}`);
          const result = await next.invoke(...request);
          order.push(`after ${name}`);
          return result;
        },
      });
    const innermost: ToolInvoker = {
      specificationVersion: "v1",
      invoke: async () => {
        order.push("tool");
        return { ok: true, value: 1 };
      },
    };
    expect(await compose([named("a"), named("b")], innermost).invoke(call, { signal })).toEqual({
      ok: true,
      value: 1,
    });
    expect(order).toEqual(["before a", "before b", "tool", "after b", "after a"]);
    expect(compose([], innermost)).toBe(innermost);
  });
});

describe("answerErrors", () => {
  const answer = (invoke: () => Promise<ToolResult>, of = signal): Promise<ToolResult> => {
    const invoker = answerErrors({ specificationVersion: "v1", invoke });
    expect(invoker.specificationVersion).toBe("v1");
    return invoker.invoke(call, { signal: of });
  };

  it("passes results on", async () => {
    const result: ToolResult = { ok: true, value: 1 };
    expect(await answer(async () => result)).toBe(result);
  });

  it("turns what is thrown into a result", async () => {
    const error = new CemError("TOOL_FAILED", "no", { details: { n: 1 } });
    expect(await answer(() => Promise.reject(error))).toEqual({
      ok: false,
      error: { code: "TOOL_FAILED", message: "no", details: { n: 1 } },
    });
    expect(await answer(() => Promise.reject(new Error("odd")))).toMatchObject({
      error: { code: "UNEXPECTED", message: "odd" },
    });
  });

  it("tells a call that was cancelled from one that failed", async () => {
    const failing = (): Promise<never> => Promise.reject(new CemError("TOOL_FAILED", "no"));
    expect(await answer(failing, AbortSignal.abort())).toEqual({
      ok: false,
      error: {
        code: "ABORTED",
        message: "The call of crm.find was cancelled.",
        details: { server: "crm", tool: "find" },
      },
    });
  });
});
