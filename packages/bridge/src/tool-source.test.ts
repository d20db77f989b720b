import { describe, expect, it } from "vitest";
import { checkCalls } from "./call-checks.ts";
import { defineTool } from "./define-tool.ts";
import { createHostTools } from "./host-tools.ts";
import { answerErrors, compose } from "./middleware.ts";
import { createMockInvoker } from "./mock-invoker.ts";
import { combineSources } from "./tool-source.ts";

const signal = new AbortController().signal;
const tool = (answer: string) => defineTool({ description: "", execute: () => answer });
const first = createHostTools({ tools: { crm: { find: tool("first") }, shared: { one: tool("one") } } });
const second = createHostTools({ tools: { shared: { two: tool("two") } } });
const mock = createMockInvoker({ other: { any: 1 } });

function invokerOf(...sides: Parameters<typeof combineSources>[0]) {
  const joined = combineSources(sides);
  return (server: string, name: string) =>
    compose([answerErrors, checkCalls(joined)], joined).invoke({ server, tool: name, args: {} }, { signal });
}

describe("combineSources", () => {
  it("sends a call to the side that knows its tool, also where servers share a name", async () => {
    const call = invokerOf(first, second, mock);
    expect(await call("crm", "find")).toEqual({ ok: true, value: "first" });
    expect(await call("shared", "one")).toEqual({ ok: true, value: "one" });
    expect(await call("shared", "two")).toEqual({ ok: true, value: "two" });
    expect(await call("other", "any")).toEqual({ ok: true, value: 1 });
  });

  it("says what the side says whose server it is", async () => {
    const message = 'Server "crm" has no tool "fnd". Did you mean "find"?';
    expect(await invokerOf(first, second, mock)("crm", "fnd")).toMatchObject({ error: { message } });
    expect(await invokerOf(first)("none", "x")).toMatchObject({
      error: { code: "TOOL_NOT_FOUND", message: "There is no tool none.x on the host." },
    });
    expect(await invokerOf()("none", "x")).toMatchObject({ error: { code: "TOOL_NOT_FOUND" } });
  });
});
