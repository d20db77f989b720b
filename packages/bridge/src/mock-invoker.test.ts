import { CemError } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createMockInvoker } from "./mock-invoker.ts";

const signal = new AbortController().signal;

describe("createMockInvoker", () => {
  const invoker = createMockInvoker({
    crm: {
      find: { id: 1 },
      double: (args) => (args as { n: number }).n * 2,
      fail: () => {
        throw new Error("no such customer");
      },
      text: () => Promise.reject("just text"),
      own: () => Promise.reject(new CemError("RATE_LIMITED", "slow down")),
    },
  });
  const call = (tool: string, args = {}, server = "crm"): ReturnType<typeof invoker.invoke> =>
    invoker.invoke({ server, tool, args }, { signal });

  it("answers with values and with what functions give", async () => {
    expect(await call("find")).toEqual({ ok: true, value: { id: 1 } });
    expect(await call("double", { n: 4 })).toEqual({ ok: true, value: 8 });
  });

  it("makes what a function throws an error of the tool", async () => {
    expect(await call("fail")).toEqual({
      ok: false,
      error: { code: "TOOL_FAILED", message: "no such customer", details: { server: "crm", tool: "fail" } },
    });
    expect(await call("text")).toMatchObject({ error: { code: "TOOL_FAILED", message: "just text" } });
    expect(await call("own")).toEqual({
      ok: false,
      error: { code: "RATE_LIMITED", message: "slow down", details: {} },
    });
  });

  it("fails for what is not mocked", async () => {
    expect(await call("dubble")).toMatchObject({
      error: { code: "TOOL_NOT_FOUND", message: 'Server "crm" has no tool "dubble". Did you mean "double"?' },
    });
    expect(await call("find", {}, "__proto__")).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
    expect(await call("constructor")).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });

  it("records the calls and fails for those that are cancelled", async () => {
    const fresh = createMockInvoker({ a: { b: 1 } });
    await fresh.invoke({ server: "a", tool: "b", args: { c: 1 } }, { signal });
    expect(fresh.calls).toEqual([{ server: "a", tool: "b", args: { c: 1 } }]);
    expect(
      await fresh.invoke({ server: "a", tool: "b", args: {} }, { signal: AbortSignal.abort() }),
    ).toMatchObject({
      error: { code: "ABORTED" },
    });
    expect(fresh.calls).toHaveLength(2);
    expect(fresh.specificationVersion).toBe("v1");
  });
});
