import { CemError } from "@cem/core";
import type { InvokeContext, ToolInvoker, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { answerErrors, compose, noteArrivals, orderCalls } from "./middleware.ts";
import type { Middleware } from "./middleware.ts";
import type { CheckedCall, KnownTool } from "./tool-source.ts";

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

interface Started {
  name: string;
  finish(): void;
  context: InvokeContext;
}

/** Notes each call that it gets, and carries it out until it is told to finish. */
function setUp() {
  const started: Started[] = [];
  const tools: ToolInvoker = {
    specificationVersion: "v1",
    async invoke({ tool }, context) {
      const { promise, resolve } = Promise.withResolvers<void>();
      started.push({ name: tool, finish: resolve, context });
      await promise;
      if (tool === "failing") throw new Error("failed");
      return { ok: true, value: tool };
    },
  };
  const invoker = orderCalls()(tools);
  const call = (
    name: string,
    serial: KnownTool["serial"],
    { server = "a", ...context }: Partial<InvokeContext> & { server?: string } = {},
  ) => {
    const checked: CheckedCall = { server, tool: name, args: {}, found: { name, serial } };
    return invoker.invoke(checked, { signal: new AbortController().signal, ...context });
  };
  const names = async (): Promise<string[]> => {
    await new Promise((resolve) => setImmediate(resolve));
    return started.map(({ name }) => name);
  };
  return { started, call, names };
}

describe("orderCalls", () => {
  it("executes serial calls of a server one after the other, and all others at once", async () => {
    const { started, call, names } = setUp();
    const first = call("first", "server");
    const second = call("second", "server", { session: "other" });
    void call("read", undefined);
    void call("elsewhere", "server", { server: "b" });
    expect(await names()).toEqual(["first", "read", "elsewhere"]);
    started[0]?.finish();
    expect(await first).toEqual({ ok: true, value: "first" });
    expect(await names()).toContain("second");
    started[3]?.finish();
    expect(await second).toEqual({ ok: true, value: "second" });
  });

  it("keeps the order of each session where sessions don't share the server", async () => {
    const { call, names } = setUp();
    void call("mine", "session", { session: "1" });
    void call("mine too", "session", { session: "1" });
    void call("theirs", "session", { session: "2" });
    expect(await names()).toEqual(["mine", "theirs"]);
  });

  it("goes on after a call that failed, and after one that was ended while it waited", async () => {
    const { started, call, names } = setUp();
    const ending = new AbortController();
    const failing = call("failing", "server");
    const ended = call("ended", "server", { signal: ending.signal });
    const last = call("last", "server");
    ending.abort();
    await expect(ended).rejects.toThrow("abort");
    // The call before it goes on.
    expect(await names()).toEqual(["failing"]);
    started[0]?.finish();
    await expect(failing).rejects.toThrow("failed");
    expect(await names()).toEqual(["failing", "last"]);
    started[1]?.finish();
    expect(await last).toEqual({ ok: true, value: "last" });
  });

  it("lets the next call go on while one waits for an answer", async () => {
    const { started, call, names } = setUp();
    const waiting: boolean[] = [];
    const asking = call("asking", "server", { onWaiting: (isWaiting) => waiting.push(isWaiting) });
    void call("next", "server");
    expect(await names()).toEqual(["asking"]);
    started[0]?.context.onWaiting?.(true);
    expect(await names()).toEqual(["asking", "next"]);
    started[0]?.context.onWaiting?.(false);
    started[0]?.finish();
    expect(await asking).toEqual({ ok: true, value: "asking" });
    expect(waiting).toEqual([true, false]);
  });
});

it("makes serial calls in the order in which they arrive, however long their checks take", async () => {
  const made: string[] = [];
  const checks = Promise.withResolvers<void>();
  const questions = Promise.withResolvers<void>();
  const check: Middleware = (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      if (call.tool === "unknown" || call.tool === "refused") await checks.promise;
      if (call.tool === "refused") throw new Error("refused");
      if (call.tool === "asking") {
        context.onWaiting?.(true);
        await questions.promise;
      }
      const serial = call.tool === "read" ? undefined : "server";
      const checked: CheckedCall = { ...call, found: { name: call.tool, serial } };
      return next.invoke(checked, context);
    },
  });
  const invoker = compose([noteArrivals, check, orderCalls()], {
    specificationVersion: "v1",
    async invoke({ tool }) {
      made.push(tool);
      return { ok: true, value: tool };
    },
  });
  const { signal } = new AbortController();
  const call = (tool: string, server = "a", run = signal) =>
    invoker.invoke({ server, tool, args: {} }, { signal: run });
  const asking = call("asking");
  const refused = call("refused");
  const all = Promise.all([call("unknown"), call("known"), call("read"), call("elsewhere", "b")]);
  await call("of another run", "a", new AbortController().signal);
  await new Promise((resolve) => setImmediate(resolve));
  expect(made).toEqual(["read", "elsewhere", "of another run"]);
  checks.resolve();
  await expect(refused).rejects.toThrow("refused");
  await all;
  expect(made.slice(3)).toEqual(["unknown", "known"]);
  questions.resolve();
  await asking;
  expect(made.at(-1)).toBe("asking");
});

it("gives a call one place only, however often its run's calls pass", async () => {
  const made: string[] = [];
  const tools: ToolInvoker = {
    specificationVersion: "v1",
    async invoke({ tool }) {
      made.push(tool);
      return { ok: true, value: tool };
    },
  };
  const check: Middleware = (next) => ({
    specificationVersion: "v1",
    async invoke(call, context) {
      if (call.tool === "write") await invoker.invoke({ ...call, tool: "look-up" }, context);
      const checked: CheckedCall = { ...call, found: { name: call.tool, serial: "server" } };
      return next.invoke(checked, context);
    },
  });
  const inner = compose([noteArrivals, check, orderCalls()], tools);
  const invoker: ToolInvoker = compose([noteArrivals], inner);
  const { signal } = new AbortController();
  const write = () => invoker.invoke({ server: "a", tool: "write", args: {} }, { signal });
  await Promise.all([write(), write()]);
  expect(made.toSorted()).toEqual(["look-up", "look-up", "write", "write"]);
});
