import type { Elicit, ElicitAnswer, ElicitRequest, InvokeContext, ResultStore, ToolResult } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import type { HostTool, HostToolContext } from "./define-tool.ts";
import { createHostTools } from "./host-tools.ts";
import { answerErrors } from "./middleware.ts";

const never = new AbortController().signal;
const form = { message: "Sure?", requestedSchema: {} };

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

function call(tool: HostTool, context: Partial<InvokeContext> = {}, elicit?: Elicit): Promise<ToolResult> {
  const tools = createHostTools({ tools: { crm: { tool } }, elicit });
  return answerErrors(tools).invoke({ server: "crm", tool: "tool", args: {} }, { signal: never, ...context });
}

function toolOf(execute: (context: HostToolContext) => unknown, timeoutMs?: number): HostTool {
  return defineTool({ description: "", timeoutMs, execute: (_input, context) => execute(context) });
}

const asking = toolOf(({ elicit }) => elicit(form), 200);

/** Answers after a time of the fake clock. */
function answerAfter(ms: number, answer: ElicitAnswer = { action: "accept" }): Elicit {
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    return answer;
  };
}

describe("a host tool's timeout", () => {
  it("is over when the tool has answered, however long its answer takes to be stored", async () => {
    const handle = {
      type: "text",
      mimeType: "text/plain",
      path: "/workspace/results/1.txt",
      size: 1,
      hash: "",
    };
    const write = () => new Promise((resolve) => setTimeout(() => resolve(handle), 5_000));
    const store = { specificationVersion: "v1", write } as unknown as ResultStore;
    const tools = createHostTools({
      tools: { crm: { tool: toolOf(() => "long", 200) } },
      store,
      maxInlineBytes: 1,
    });
    const running = answerErrors(tools).invoke({ server: "crm", tool: "tool", args: {} }, { signal: never });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await running).toMatchObject({ ok: true, value: { path: handle.path } });
  });

  it("ends a tool and aborts its signal", async () => {
    const reasons: unknown[] = [];
    const slow = toolOf(({ signal }) => {
      signal.addEventListener("abort", () => reasons.push(signal.reason));
      return new Promise(() => {});
    }, 2_500);
    const running = call(slow);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(await running).toEqual({
      ok: false,
      error: {
        code: "TOOL_TIMEOUT",
        message: "crm.tool did not answer within 2.5 s.",
        details: { server: "crm", tool: "tool", timeoutMs: 2_500 },
      },
    });
    expect(reasons).toMatchObject([{ name: "TimeoutError" }]);
  });

  it("is 60 s where the tool sets none", async () => {
    const running = call(toolOf(() => new Promise(() => {})));
    await vi.advanceTimersByTimeAsync(59_999);
    expect(vi.getTimerCount()).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await running).toMatchObject({ error: { details: { timeoutMs: 60_000 } } });
  });

  it("ends a schema that never ends", async () => {
    const input = z.object({}).refine(() => new Promise(() => {}));
    const running = call(defineTool({ description: "", input, timeoutMs: 30, execute: () => 1 }));
    await vi.advanceTimersByTimeAsync(30);
    expect(await running).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
  });

  it("leaves no timer when the tool returns or throws", async () => {
    expect(await call(toolOf(() => 1))).toEqual({ ok: true, value: 1 });
    await call(toolOf(() => Promise.reject(new Error("no"))));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not what ended a call that was cancelled", async () => {
    const controller = new AbortController();
    const running = call(
      toolOf(() => new Promise(() => {})),
      { signal: controller.signal },
    );
    controller.abort();
    expect(await running).toMatchObject({ error: { code: "ABORTED" } });
  });
});

describe("elicit", () => {
  it("asks the user in the name of the server", async () => {
    const asked: ElicitRequest[] = [];
    const elicit: Elicit = async (request) => {
      asked.push(request);
      return { action: "accept", content: { sure: true } };
    };
    expect(await call(asking, {}, elicit)).toEqual({
      ok: true,
      value: { action: "accept", content: { sure: true } },
    });
    const url = { mode: "url", message: "Sign in", url: "https://example.com" } as const;
    await call(
      toolOf((context) => context.elicit(url)),
      {},
      elicit,
    );
    expect(asked).toEqual([
      { server: "crm", mode: "form", ...form, signal: expect.any(AbortSignal) },
      { server: "crm", ...url, signal: expect.any(AbortSignal) },
    ]);
  });

  it("asks the user of the call rather than the one of the settings", async () => {
    const settings = answerAfter(0, { action: "cancel" });
    const own = async (): Promise<ElicitAnswer> => ({ action: "accept" });
    expect(await call(asking, { elicit: own }, settings)).toMatchObject({ value: { action: "accept" } });
    const running = call(asking, { elicit: undefined }, settings);
    await vi.advanceTimersByTimeAsync(0);
    expect(await running).toMatchObject({ value: { action: "cancel" } });
  });

  it("is cancelled where nobody can be asked, and says so", async () => {
    const waiting: boolean[] = [];
    const onWaiting = (isWaiting: boolean): void => void waiting.push(isWaiting);
    expect(await call(asking, { onWaiting })).toEqual({
      ok: true,
      value: { action: "cancel", reason: "Nobody could be asked: no user is connected to this run." },
    });
    expect(waiting).toEqual([]);
  });

  it("pauses the timeouts of the tool and of the run", async () => {
    const waiting: boolean[] = [];
    const onWaiting = (isWaiting: boolean): void => void waiting.push(isWaiting);
    const running = call(asking, { onWaiting }, answerAfter(5_000));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await running).toMatchObject({ value: { action: "accept" } });
    expect(waiting).toEqual([true, false]);
  });

  it("counts the time after the answer again", async () => {
    const tool = toolOf(async ({ elicit }) => {
      await elicit(form);
      await new Promise(() => {});
    }, 200);
    const running = call(tool, {}, answerAfter(5_000));
    await vi.advanceTimersByTimeAsync(5_200);
    expect(await running).toMatchObject({ error: { code: "TOOL_TIMEOUT" } });
  });

  it("is cancelled, with a warning, when asking fails", async () => {
    const warning = new Promise<Error>((resolve) => process.once("warning", resolve));
    const elicit: Elicit = () => Promise.reject(new Error("no terminal"));
    expect(await call(asking, {}, elicit)).toEqual({ ok: true, value: { action: "cancel" } });
    expect(await warning).toMatchObject({
      name: "CemWarning",
      message: "A question of crm was not answered: Error: no terminal",
    });
  });

  it("is abandoned when the call is cancelled", async () => {
    const controller = new AbortController();
    const waiting: boolean[] = [];
    const settled: unknown[] = [];
    const tool = toolOf(({ elicit }) =>
      elicit(form).catch((error: unknown) => {
        settled.push(error);
        throw error;
      }),
    );
    const running = call(
      tool,
      { signal: controller.signal, onWaiting: (isWaiting) => waiting.push(isWaiting) },
      () => new Promise(() => {}),
    );
    await vi.advanceTimersByTimeAsync(0);
    controller.abort("enough");
    expect(await running).toMatchObject({ error: { code: "ABORTED" } });
    await vi.advanceTimersByTimeAsync(0);
    expect([waiting, settled]).toEqual([[true, false], ["enough"]]);
    expect(vi.getTimerCount()).toBe(0);
  });
});
