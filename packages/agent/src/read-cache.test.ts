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
    it("answers a repeated call of a read-only tool, whatever the order of its arguments", async () => {
      const { call } = start();
      expect(await call("balance", { a: 1, b: { c: 2, d: 3 } })).toBe(1);
      expect(await call("balance", { b: { d: 3, c: 2 }, a: 1 })).toBe(1);
      expect(await call("balance", { a: 1, b: { c: 2, d: 4 } })).toBe(2);
      expect(await call("balance-of-account", { a: 1 })).toBe(3);
      expect(await call("balance-of-account", { a: 1 })).toBe(3);
    });

    it("passes a call on again after a call of another tool, and after a failure", async () => {
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

    it("passes every call of other tools on", async () => {
      const { call } = start();
      expect([await call("pay", 1), await call("pay", 1)]).toEqual([1, 2]);
    });

    it("stores results while it does not answer from the cache", async () => {
      let calls = 0;
      const counting: ToolInvoker = {
        specificationVersion: "v1",
        invoke: async () => ({ ok: true, value: (calls += 1) }),
      };
      const cache = new ReadCache([tool("balance", true)]);
      const call = { server: "bank", tool: "balance", args: {} };
      const { signal } = new AbortController();
      const storing = cache.wrap(counting, { answer: false });
      expect(storing.specificationVersion).toBe("v1");
      await storing.invoke(call, { signal });
      await storing.invoke(call, { signal });
      const answering = cache.wrap(counting, { answer: true });
      expect(await answering.invoke(call, { signal })).toEqual({ ok: true, value: 2 });
      expect(await answering.invoke({ ...call, server: "other" }, { signal })).toEqual({
        ok: true,
        value: 3,
      });
    });

    it("stores up to 200 results of up to 256 Ki characters", async () => {
      const { call } = start();
      for (let args = 1; args <= 201; args += 1) expect(await call("balance", args)).toBe(args);
      expect([await call("balance", 200), await call("balance", 201)]).toEqual([200, 202]);

      let calls = 0;
      const text: ToolInvoker = {
        specificationVersion: "v1",
        async invoke({ args }) {
          calls += 1;
          return { ok: true, value: "x".repeat((args as number) - 2) };
        },
      };
      const invoker = new ReadCache([tool("balance", true)]).wrap(text, { answer: true });
      const { signal } = new AbortController();
      const limit = 256 * 1024;
      for (const args of [limit, limit, limit + 1, limit + 1]) {
        await invoker.invoke({ server: "bank", tool: "balance", args }, { signal });
      }
      expect(calls).toBe(3);
    });

    it("drops what is stored while another tool is called", async () => {
      const gate = Promise.withResolvers<void>();
      let calls = 0;
      const slow: ToolInvoker = {
        specificationVersion: "v1",
        async invoke({ tool: name }) {
          if (name === "pay") await gate.promise;
          return { ok: true, value: (calls += 1) };
        },
      };
      const invoker = new ReadCache([tool("balance", true)]).wrap(slow, { answer: true });
      const { signal } = new AbortController();
      const read = { server: "bank", tool: "balance", args: {} };
      const paying = invoker.invoke({ ...read, tool: "pay" }, { signal });
      await invoker.invoke(read, { signal });
      gate.resolve();
      await paying;
      expect(await invoker.invoke(read, { signal })).toEqual({ ok: true, value: 3 });
    });
  });
});
