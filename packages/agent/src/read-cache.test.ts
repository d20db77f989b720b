import type { JsonValue, ToolDefinition, ToolInvoker } from "@cem/core";
import { describe, expect, it } from "vitest";
import { ReadCache } from "./read-cache.ts";

function tool(name: string, readOnlyHint?: boolean): ToolDefinition {
  return {
    server: "bank",
    name,
    originalName: `${name}-of-account`,
    kind: "host",
    description: "",
    inputSchema: {},
    annotations: { readOnlyHint },
    callStyle: "object",
    signature: `${name}(input: { account: string }): Promise<number>`,
    module: "./servers/bank/index.ts",
  };
}

/** An invoker that counts its calls, behind a cache. */
function start(): { call: (tool: string, args: JsonValue) => Promise<JsonValue>; cache: ReadCache } {
  let calls = 0;
  const counting: ToolInvoker = {
    specificationVersion: "v1",
    async invoke({ args }) {
      calls += 1;
      if (args === "fail") return { ok: false, error: { code: "X", message: "x", details: {} } };
      return { ok: true, value: calls };
    },
  };
  const cache = new ReadCache([tool("balance", true), tool("pay"), tool("note", false)]);
  const invoker = cache.wrap(counting, { answer: true });
  const { signal } = new AbortController();
  return {
    cache,
    async call(name, args) {
      const result = await invoker.invoke({ server: "bank", tool: name, args }, { signal });
      return result.ok ? result.value : result.error.code;
    },
  };
}

describe("ReadCache", () => {
  describe("wrap", () => {
    it("answers the same call of a tool that only reads once, whatever the order of its arguments", async () => {
      const { call } = start();
      expect(await call("balance", { a: 1, b: { c: 2, d: 3 } })).toBe(1);
      expect(await call("balance", { b: { d: 3, c: 2 }, a: 1 })).toBe(1);
      expect(await call("balance", { a: 1, b: { c: 2, d: 4 } })).toBe(2);
      expect(await call("balance-of-account", { a: 1 })).toBe(3);
      expect(await call("balance-of-account", { a: 1 })).toBe(3);
    });

    it("asks again after any other call, and after a failure", async () => {
      const { cache, call } = start();
      expect(await call("balance", 1)).toBe(1);
      expect(await call("pay", 1)).toBe(2);
      expect(await call("balance", 1)).toBe(3);
      expect(await call("note", 1)).toBe(4);
      expect(await call("balance", 1)).toBe(5);
      cache.invalidateBy("filesystem", "write_file");
      expect(await call("balance", 1)).toBe(6);
      cache.invalidateBy("bank", "balance");
      expect(await call("balance", 1)).toBe(6);
      expect([await call("balance", "fail"), await call("balance", "fail")]).toEqual(["X", "X"]);
    });

    it("never answers a call of a tool that may change something", async () => {
      const { call } = start();
      expect([await call("pay", 1), await call("pay", 1)]).toEqual([1, 2]);
    });
  });
});
