import type { ToolCall, ToolInvoker } from "@cem/core";
import { describe, expect, it } from "vitest";
import { checkCalls } from "./call-checks.ts";
import { defineTool } from "./define-tool.ts";
import { createHostTools } from "./host-tools.ts";
import { answerErrors, compose } from "./middleware.ts";
import { createMockInvoker } from "./mock-invoker.ts";
import { combineSources } from "./tool-source.ts";
import type { CheckedCall, ToolSource } from "./tool-source.ts";

const signal = new AbortController().signal;
const tool = (answer: string) => defineTool({ description: "", execute: () => answer });
const first = createHostTools({ tools: { crm: { find: tool("first") }, shared: { one: tool("one") } } });
const second = createHostTools({ tools: { shared: { two: tool("two") } } });
const mock = createMockInvoker({ other: { any: 1 } });

/** The bridge: middlewares around combined sources. */
function bridge(...sources: Parameters<typeof combineSources>[0]): ToolInvoker {
  const combined = combineSources(sources);
  return compose([answerErrors, checkCalls(combined)], combined);
}

function callThrough(invoker: ToolInvoker, server: string, name: string): ReturnType<ToolInvoker["invoke"]> {
  return invoker.invoke({ server, tool: name, args: {} }, { signal });
}

/** A source with one tool, `server.tool`, which counts what it is asked. */
class CountingSource implements ToolSource {
  readonly specificationVersion = "v1";
  readonly server: string;
  finds = 0;
  readonly calls: CheckedCall[] = [];

  constructor(server: string) {
    this.server = server;
  }

  find({ server }: ToolCall): { name: string } | undefined {
    this.finds += 1;
    return server === this.server ? { name: `${server}-original` } : undefined;
  }

  async invoke(call: CheckedCall): ReturnType<ToolSource["invoke"]> {
    this.calls.push(call);
    return { ok: true, value: this.server };
  }
}

describe("combineSources", () => {
  it("sends a call to the source that has its tool, also where servers share a name", async () => {
    const invoker = bridge(first, second, mock);
    expect(await callThrough(invoker, "crm", "find")).toEqual({ ok: true, value: "first" });
    expect(await callThrough(invoker, "shared", "one")).toEqual({ ok: true, value: "one" });
    expect(await callThrough(invoker, "shared", "two")).toEqual({ ok: true, value: "two" });
    expect(await callThrough(invoker, "other", "any")).toEqual({ ok: true, value: 1 });
  });

  it("fails with the error of the first source that has the server", async () => {
    const message = 'Server "crm" has no tool "fnd". Did you mean "find"?';
    const failing: ToolSource = {
      specificationVersion: "v1",
      find: () => Promise.reject(new Error("later")),
      invoke: (call, context) => mock.invoke(call, context),
    };
    expect(await callThrough(bridge(first, failing, mock), "crm", "fnd")).toMatchObject({
      error: { message },
    });
    expect(mock.calls.some(({ server }) => server === "crm")).toBe(false);
  });

  it("fails for a server that no source has", async () => {
    const error = {
      code: "TOOL_NOT_FOUND",
      message: "There is no tool none.x on the host.",
      details: { server: "none", tool: "x" },
    };
    expect(await callThrough(bridge(first), "none", "x")).toEqual({ ok: false, error });
    expect(await callThrough(bridge(), "none", "x")).toEqual({ ok: false, error });
    await expect(
      combineSources([first]).invoke({ server: "none", tool: "x", args: {} }, { signal }),
    ).rejects.toMatchObject(error);
  });

  it("finds every tool of an invoker without find, under its name in code", async () => {
    const combined = combineSources([first, mock]);
    expect(await combined.find({ server: "any", tool: "thing", args: {} }, signal)).toEqual({
      name: "thing",
    });
  });

  it("gives an invoker without find the call alone", async () => {
    const calls: ToolCall[] = [];
    const own: ToolInvoker = {
      specificationVersion: "v1",
      invoke: async (call) => {
        calls.push(call);
        return { ok: true, value: 1 };
      },
    };
    await callThrough(bridge(first, own), "any", "thing");
    expect(Object.keys(calls[0] ?? {})).toEqual(["server", "tool", "args"]);
  });

  it("looks a tool up itself when the call was not checked, or was checked elsewhere", async () => {
    const source = new CountingSource("crm");
    const combined = combineSources([source]);
    const call = { server: "crm", tool: "find", args: {} };
    expect(await combined.invoke(call, { signal })).toEqual({ ok: true, value: "crm" });
    await combined.invoke({ ...call, found: { name: "of another source" } }, { signal });
    expect(source.calls.map(({ found }) => found?.name)).toEqual(["crm-original", "crm-original"]);
  });
});

describe("a call through the bridge", () => {
  it("is looked up exactly once, by each source until one has it, and not again when it is executed", async () => {
    const [a, b, c] = [new CountingSource("a"), new CountingSource("b"), new CountingSource("c")];
    const nested = combineSources([b, c]);
    const invoker = bridge(a, nested);
    expect(await callThrough(invoker, "b", "x")).toEqual({ ok: true, value: "b" });
    expect([a.finds, b.finds, c.finds]).toEqual([1, 1, 0]);
    expect(await callThrough(invoker, "c", "x")).toEqual({ ok: true, value: "c" });
    expect([a.finds, b.finds, c.finds]).toEqual([2, 2, 1]);
    expect(c.calls).toEqual([{ server: "c", tool: "x", args: {}, found: { name: "c-original" } }]);
  });
});
