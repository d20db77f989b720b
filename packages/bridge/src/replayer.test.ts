import type { JsonValue, ToolCall, ToolInvoker, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createReplayer } from "./call-recorder.ts";

const signal = new AbortController().signal;
const call = (invoker: ToolInvoker, tool: string, args: JsonValue = {}): Promise<ToolResult> =>
  invoker.invoke({ server: "s", tool, args }, { signal });
const answered = (args: JsonValue, value: JsonValue) => ({
  server: "s",
  tool: "t",
  args,
  result: { ok: true, value } as const,
});

describe("createReplayer", () => {
  it("returns the recorded results, those of the same call in their order", async () => {
    const replayer = createReplayer([answered({}, 1), answered({ a: 1 }, "other"), answered({}, 2)]);
    expect(await call(replayer, "t")).toEqual({ ok: true, value: 1 });
    expect(await call(replayer, "t")).toEqual({ ok: true, value: 2 });
    expect(await call(replayer, "t", { a: 1 })).toEqual({ ok: true, value: "other" });
    expect(await call(replayer, "t")).toMatchObject({
      error: { message: "The call of s.t was made 2 times in the recorded run, and this is call 3." },
    });
  });

  it("fails for a call that was not recorded", async () => {
    expect(await call(createReplayer([answered({}, 1)]), "next", { other: true })).toMatchObject({
      ok: false,
      error: {
        code: "NOT_RECORDED",
        message: "The call of s.next with these arguments was not made in the recorded run.",
        details: { server: "s", tool: "next" },
      },
    });
  });

  it.each([
    [
      { b: 1, a: { d: [1, { f: 2, e: 3 }], c: null } },
      { a: { c: null, d: [1, { e: 3, f: 2 }] }, b: 1 },
    ],
    [null, null],
    ["text", "text"],
  ])("finds %j as %j", async (recorded, args) => {
    expect(await call(createReplayer([answered(recorded, "found")]), "t", args)).toMatchObject({ ok: true });
  });

  it.each([
    [{ a: 1 }, { a: "1" }],
    [{ a: [1, 2] }, { a: [2, 1] }],
    [{ a: {} }, { a: [] }],
    [{ a: null }, {}],
    ["", null],
  ])("tells %j from %j", async (recorded, args) => {
    const replayer = createReplayer([answered(recorded, 1)]);
    expect(await call(replayer, "t", args)).toMatchObject({ error: { code: "NOT_RECORDED" } });
  });

  it("takes a call without arguments for one with null", async () => {
    const replayer = createReplayer([answered(null, 1)]);
    expect(await replayer.invoke({ server: "s", tool: "t" } as ToolCall, { signal })).toMatchObject({
      ok: true,
    });
  });

  it("hands out copies", async () => {
    const result = { ok: true, value: { a: 1 } } as const;
    const replayer = createReplayer([1, 2].map(() => ({ server: "s", tool: "t", args: {}, result })));
    const first = await call(replayer, "t");
    if (first.ok) (first.value as Record<string, number>)["a"] = 2;
    expect(await call(replayer, "t")).toEqual({ ok: true, value: { a: 1 } });
  });
});
