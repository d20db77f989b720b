import type { JsonValue, ToolInvoker } from "@cem/core";
import { describe, expect, it } from "vitest";
import { createMockInvoker } from "./mock-invoker.ts";
import { createRecorder, createReplayer } from "./recording.ts";

const signal = new AbortController().signal;
const call = (invoker: ToolInvoker, tool: string, args: JsonValue = {}): ReturnType<ToolInvoker["invoke"]> =>
  invoker.invoke({ server: "s", tool, args }, { signal });

async function record(): Promise<{ recording: unknown; results: unknown[] }> {
  let count = 0;
  const recorder = createRecorder(
    createMockInvoker({
      s: {
        next: () => (count += 1),
        late: async (args) => {
          await new Promise((resolve) => setTimeout(resolve, (args as { ms: number }).ms));
          return args;
        },
      },
    }),
  );
  const results = [await call(recorder, "next"), await call(recorder, "next"), await call(recorder, "none")];
  results.push(
    ...(await Promise.all([call(recorder, "late", { ms: 20, a: 1 }), call(recorder, "late", { ms: 1 })])),
  );
  return { recording: JSON.parse(JSON.stringify(recorder.recording())) as unknown, results };
}

describe("createReplayer", () => {
  it("gives the recorded results, the same call's in their order", async () => {
    const { recording, results } = await record();
    const replayer = createReplayer(recording);
    const replayed = [
      await call(replayer, "next"),
      await call(replayer, "next"),
      await call(replayer, "none"),
    ];
    replayed.push(await call(replayer, "late", { ms: 1 }), await call(replayer, "late", { a: 1, ms: 20 }));
    expect(replayed.slice(0, 3)).toEqual(results.slice(0, 3));
    expect(replayed.slice(3)).toEqual(results.slice(3).toReversed());
  });

  it("fails for a call that was not recorded", async () => {
    const replayer = createReplayer((await record()).recording);
    expect(await call(replayer, "next", { other: true })).toMatchObject({
      ok: false,
      error: {
        code: "NOT_RECORDED",
        message: "The call of s.next with these arguments is not in the recording. Record the run again.",
      },
    });
    await call(replayer, "next");
    await call(replayer, "next");
    expect(await call(replayer, "next")).toMatchObject({
      error: {
        message: "The call of s.next is in the recording 2 times, and this is call 3. Record the run again.",
      },
    });
  });

  it("hands out copies", async () => {
    const replayer = createReplayer({
      format: "cem-recording",
      version: 1,
      calls: [1, 2].map(() => ({
        server: "s",
        tool: "t",
        args: {},
        ms: 0,
        result: { ok: true, value: { a: 1 } },
      })),
    });
    const first = await call(replayer, "t");
    if (first.ok) (first.value as Record<string, number>)["a"] = 2;
    expect(await call(replayer, "t")).toEqual({ ok: true, value: { a: 1 } });
  });

  it.each([
    [{}, "This is not a recording: format"],
    [{ format: "cem-recording", version: 2, calls: [] }, "This is not a recording: version"],
    [
      { format: "cem-recording", version: 1, calls: [{ server: "s" }] },
      "This is not a recording: calls.0.tool",
    ],
    ["text", "This is not a recording: the file"],
  ])("refuses %j", (recording, message) => {
    expect(() => createReplayer(recording)).toThrow(message);
  });
});
