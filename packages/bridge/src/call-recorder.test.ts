import type { InvokeContext, JsonValue, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createCallRecorder } from "./call-recorder.ts";

const context = (run: string): InvokeContext => ({ run, signal: new AbortController().signal });
const call = (args: JsonValue): ToolCall => ({ server: "crm", tool: "find", args });
const answering = (invoke: (call: ToolCall) => Promise<ToolResult>): ToolInvoker => ({
  specificationVersion: "v1",
  invoke,
});
const LARGE = "x".repeat(20_000);

describe("CallRecorder", () => {
  it("tells the calls of each run in their order, once", async () => {
    const keeper = createCallRecorder(true);
    const invoker = keeper.middleware(answering(async ({ args }) => ({ ok: true, value: args })));
    await Promise.all([
      invoker.invoke(call({ n: 1 }), context("a")),
      invoker.invoke(call({ n: 2 }), context("a")),
    ]);
    await invoker.invoke(call({ n: 3 }), context("b"));
    expect(
      keeper
        .take("a")()
        .map(({ args }) => args),
    ).toEqual([{ value: { n: 1 } }, { value: { n: 2 } }]);
    expect(keeper.take("a")()).toEqual([]);
    expect(keeper.take("b")()).toMatchObject([
      { ok: true, result: { value: { ok: true, value: { n: 3 } } } },
    ]);
  });

  it("tells a call that was not answered as cancelled, and one that threw as failed", async () => {
    const keeper = createCallRecorder(true);
    const never = keeper.middleware(answering(() => new Promise(() => {})));
    const throwing = keeper.middleware(answering(() => Promise.reject(new Error("gone"))));
    void never.invoke(call({}), context("a"));
    await expect(throwing.invoke(call({ n: 1 }), context("a"))).rejects.toThrow("gone");
    expect(keeper.take("a")()).toEqual([
      {
        server: "crm",
        tool: "find",
        ok: false,
        isCancelled: true,
        ms: expect.any(Number),
        args: { value: {} },
      },
      { server: "crm", tool: "find", ok: false, ms: expect.any(Number), args: { value: { n: 1 } } },
    ]);
  });

  it("copies data as it was at the call", async () => {
    const keeper = createCallRecorder(true);
    const args = { rows: [1] };
    const invoker = keeper.middleware(
      answering(async () => {
        args.rows.push(2);
        return { ok: true, value: null };
      }),
    );
    await invoker.invoke(call(args), context("a"));
    expect(keeper.take("a")()).toMatchObject([{ args: { value: { rows: [1] } } }]);
  });

  it("tells large data by its size and a digest that equals that of equal data of the run only", async () => {
    const keeper = createCallRecorder(true);
    const invoker = keeper.middleware(answering(async () => ({ ok: true, value: null })));
    const runs = ["a", "a", "b", ...Array.from({ length: 40 }, () => "c")];
    for (const run of runs) await invoker.invoke(call(LARGE), context(run));
    const told = ["a", "b", "c"].flatMap((run) =>
      keeper
        .take(run)()
        .map(({ args }) => args),
    );
    expect(told).toHaveLength(runs.length);
    for (const args of told) expect(args).toMatchObject({ bytes: LARGE.length + 2 });
    const digests = told.map((args) => (args !== undefined && "digest" in args ? args.digest : ""));
    expect(digests[0]).toBe(digests[1]);
    expect(new Set(digests).size).toBe(3);
  });

  it("does not fail a call whose data is no JSON", async () => {
    const keeper = createCallRecorder(true);
    const value = { size: 1n } as unknown as JsonValue;
    const invoker = keeper.middleware(answering(async () => ({ ok: true, value })));
    await expect(invoker.invoke(call({}), context("a"))).resolves.toMatchObject({ ok: true });
    expect(keeper.take("a")()).toMatchObject([{ ok: true }]);
  });

  it("keeps no values where only sizes are wanted", async () => {
    const keeper = createCallRecorder(false);
    const invoker = keeper.middleware(answering(async () => ({ ok: true, value: "secret" })));
    await invoker.invoke(call({ n: 1 }), context("a"));
    const told = keeper.take("a")();
    expect(JSON.stringify(told)).not.toContain("secret");
    expect(told).toMatchObject([{ args: { bytes: 7 } }]);
  });
});
