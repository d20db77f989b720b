import { CemError, UNAWAITED_CALL, type ToolResult } from "@cem/core";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerErrors, compose } from "./middleware.ts";
import { followSentCalls } from "./sent-calls.ts";
import type { CheckedCall, KnownTool } from "./tool-source.ts";

const call = { server: "crm", tool: "add", args: {} };
const left = new DOMException("The program ended.", UNAWAITED_CALL);

/** A call whose tool answers when it is told to, and what became of it. */
function begin(found?: KnownTool) {
  const run = new AbortController();
  const answer = Promise.withResolvers<ToolResult>();
  let toolSignal: AbortSignal | undefined;
  const invoker = compose([answerErrors, followSentCalls], {
    specificationVersion: "v1",
    async invoke(_, { signal }) {
      toolSignal = signal;
      return answer.promise;
    },
  });
  const { signal } = run;
  const checked: CheckedCall = { ...call, found };
  const result = invoker.invoke(checked, { signal });
  return { run, answer, result, isCancelled: () => toolSignal?.aborted };
}

describe("followSentCalls", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("passes answers on", async () => {
    const { answer, result } = begin();
    answer.resolve({ ok: true, value: 1 });
    expect(await result).toEqual({ ok: true, value: 1 });
  });

  it("cancels a call at its tool at once when somebody ends the run, and says that it had been sent", async () => {
    const { run, result, isCancelled } = begin();
    run.abort(new Error("stopped"));
    expect(isCancelled()).toBe(true);
    expect(await result).toMatchObject({
      error: {
        code: "ABORTED",
        message: "The call of crm.add was cancelled after it had been sent: the tool may have executed it.",
        details: { isSent: true, mayBeDone: true },
      },
    });
  });

  it("waits for the answer, or the error, of a call that its program left", async () => {
    const { run, answer, result, isCancelled } = begin();
    run.abort(left);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(isCancelled()).toBe(false);
    answer.resolve({ ok: true, value: 2 });
    expect(await result).toEqual({ ok: true, value: 2 });
    // Nothing is awaited any more: what the run held at the tool's server is free.
    expect(isCancelled()).toBe(true);
    const failing = begin();
    failing.run.abort(left);
    failing.answer.reject(new CemError("TOOL_FAILED", "no such account"));
    expect(await failing.result).toMatchObject({ ok: false, error: { code: "TOOL_FAILED" } });
  });

  it("does not wait for a call that only reads", async () => {
    const { run, result, isCancelled } = begin({ name: "add", annotations: { readOnlyHint: true } });
    run.abort(left);
    expect(isCancelled()).toBe(true);
    expect((await result) as unknown).toMatchObject({
      error: { code: "ABORTED", details: { server: "crm", tool: "add", isSent: true } },
    });
  });

  it("ends with its run what a call that was answered holds", async () => {
    const { run, answer, result, isCancelled } = begin();
    answer.resolve({ ok: true, value: 1 });
    await result;
    expect(isCancelled()).toBe(false);
    run.abort(left);
    expect(isCancelled()).toBe(true);
  });

  it("cancels it when no answer comes for five seconds", async () => {
    const { run, result, isCancelled } = begin();
    run.abort(left);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await result).toMatchObject({ error: { details: { isSent: true, mayBeDone: true } } });
    expect(isCancelled()).toBe(true);
  });

  it("sends nothing once the run has ended", async () => {
    let calls = 0;
    const invoker = compose([answerErrors, followSentCalls], {
      specificationVersion: "v1",
      async invoke() {
        calls += 1;
        return { ok: true, value: 1 };
      },
    });
    const result = await invoker.invoke(call, { signal: AbortSignal.abort(left) });
    expect(result).toMatchObject({ error: { message: "The call of crm.add was cancelled.", details: {} } });
    expect(calls).toBe(0);
  });
});
