import type { RunLimits, ToolCallRecord, ToolResult } from "@cem/core";
import { describe, expect, it } from "vitest";
import { resolveLimits } from "./run-limits.ts";
import { createToolBridge } from "./tool-bridge.ts";

type Invoke = (
  call: { server: string; tool: string; args: unknown },
  context: { signal: AbortSignal; onWaiting?: ((isWaiting: boolean) => void) | undefined },
) => Promise<ToolResult>;

const call = (id: number, args: unknown = {}) => ({ id, server: "s", tool: `t${id}`, args: args as never });
const trace = {
  type: "trace",
  server: "s",
  tool: "t",
  ms: 5,
  ok: true,
  characters: 3,
  sample: "[1]",
} as const;
const tick = () => new Promise((resolve) => setImmediate(resolve));

function open(invoke?: Invoke, limits: Partial<RunLimits> = {}, flushes = true) {
  const sent: { id: number; ok: boolean; value?: unknown; error?: { code: string; message: string } }[] = [];
  const kills: [reason: string, message: string][] = [];
  const waits: boolean[] = [];
  const recorded: ToolCallRecord[] = [];
  const flush: (() => void)[] = [];
  const bridge = createToolBridge({
    invoker: invoke && { specificationVersion: "v1", invoke },
    limits: resolveLimits(limits),
    onToolCall: (record) => recorded.push(record),
    send: (line, flushed) => {
      sent.push(JSON.parse(line));
      if (flushes) flushed();
      else flush.push(flushed);
    },
    kill: (reason, message) => kills.push([reason, message]),
    onWaiting: (isWaiting) => waits.push(isWaiting),
  });
  return { bridge, sent, kills, waits, recorded, flush };
}

describe("ToolBridge", () => {
  describe("call", () => {
    it("passes a call to the invoker, sends its result and records both", async () => {
      const { bridge, sent, recorded } = open(async ({ args }) => ({ ok: true, value: [args] as never }));
      bridge.call(call(1, { a: 1 }));
      await tick();
      expect(sent).toEqual([{ type: "result", id: 1, ok: true, value: [{ a: 1 }] }]);
      const record = { server: "s", tool: "t1", ok: true, args: '{"a":1}', result: '[{"a":1}]' };
      expect(bridge.records).toEqual([{ ...record, ms: expect.any(Number), startMs: expect.any(Number) }]);
      expect(recorded).toEqual(bridge.records);
      expect(bridge.samples).toEqual([{ characters: 9, sample: '[{"a":1}]' }]);
    });

    it("sends and records the error of a call that fails or throws", async () => {
      const error = { code: "TOOL_FAILED", message: "no", details: {} };
      const failing = open(async () => ({ ok: false, error }));
      failing.bridge.call(call(1));
      const throwing = open(() => Promise.reject(new Error("broken")));
      throwing.bridge.call(call(1));
      await tick();
      expect(failing.sent).toEqual([{ type: "result", id: 1, ok: false, error }]);
      expect(throwing.sent).toMatchObject([{ ok: false, error: { message: "broken" } }]);
      for (const { bridge } of [failing, throwing]) {
        expect(bridge.records).toMatchObject([{ ok: false, args: "{}" }]);
        expect(bridge.records[0]).not.toHaveProperty("result");
        expect(bridge.samples).toEqual([]);
      }
    });

    it("fails each call where the run has no host tools", async () => {
      const { bridge, sent } = open();
      bridge.call(call(1));
      await tick();
      expect(sent).toMatchObject([
        { ok: false, error: { code: "TOOL_NOT_FOUND", details: { server: "s", tool: "t1" } } },
      ]);
    });

    it("ends the run at a repeated id, and at too many calls at once", () => {
      const never: Invoke = () => new Promise(() => {});
      const repeated = open(never);
      repeated.bridge.call(call(1));
      repeated.bridge.call(call(1));
      expect(repeated.kills).toEqual([["protocol", "The guest used the call id 1 twice."]]);
      const many = open(never, { callsInFlight: 2 });
      for (let id = 1; id <= 3; id += 1) many.bridge.call(call(id));
      expect(many.kills).toEqual([["protocol", "The guest made more than 2 calls at once."]]);
    });

    it("ends the run at more calls than allowed, pending and recorded together", async () => {
      const { bridge, kills } = open(async () => ({ ok: true, value: 1 }), { calls: 3 });
      bridge.call(call(1));
      await tick();
      bridge.trace(trace);
      bridge.call(call(2));
      expect(kills).toEqual([]);
      bridge.call(call(3));
      expect(kills).toEqual([["call-limit", "The program made more than 3 tool calls."]]);
      bridge.trace(trace);
      expect(kills).toHaveLength(2);
    });

    it("cuts what records and samples keep", async () => {
      const value = "x".repeat(100_000);
      const { bridge } = open(async () => ({ ok: true, value }));
      bridge.call(call(1, value));
      await tick();
      const [record] = bridge.records;
      expect([record?.args?.length, record?.result?.length]).toEqual([2_048, 2_048]);
      expect(bridge.samples[0]?.characters).toBe(100_002);
      expect(bridge.samples[0]?.sample).toHaveLength(65_536);
    });

    it("keeps neither arguments nor results after a thousand calls", () => {
      const { bridge } = open(undefined, { calls: 2_000 });
      for (let count = 0; count < 1_001; count += 1) bridge.trace({ ...trace, args: "{}" });
      expect(bridge.records[999]).toEqual({
        server: "s",
        tool: "t",
        ms: 5,
        startMs: expect.any(Number),
        ok: true,
        place: "guest",
        args: "{}",
        result: "[1]",
      });
      expect(bridge.records[1_000]).toEqual({
        server: "s",
        tool: "t",
        ms: 5,
        startMs: expect.any(Number),
        ok: true,
        place: "guest",
      });
    });

    it("keeps 8 Mi characters of samples in all", () => {
      const { bridge } = open(undefined, { calls: 2_000 });
      const sample = "x".repeat(65_536);
      for (let count = 0; count < 129; count += 1) bridge.trace({ ...trace, characters: 65_536, sample });
      expect(bridge.samples[127]?.sample).toHaveLength(65_536);
      expect(bridge.samples[128]).toEqual({ characters: 65_536, sample: "" });
    });
  });

  describe("trace", () => {
    it("records a call that ran in the guest, and samples its result", () => {
      const { bridge, recorded } = open();
      // Longer than the run has been there.
      const ms = 1e9;
      bridge.trace({ ...trace, ms });
      bridge.trace({ ...trace, ms, ok: false, sample: "", args: "[2]" });
      expect(recorded).toEqual([
        { server: "s", tool: "t", ms, startMs: 0, ok: true, place: "guest", result: "[1]" },
        { server: "s", tool: "t", ms, startMs: 0, ok: false, place: "guest", args: "[2]" },
      ]);
      expect(bridge.samples).toEqual([{ characters: 3, sample: "[1]" }]);
    });
  });

  describe("backpressure", () => {
    it("starts no call while more results than the payload limit are unsent", async () => {
      let invoked = 0;
      const invoke: Invoke = async () => {
        invoked += 1;
        return { ok: true, value: "x".repeat(900) };
      };
      const { bridge, sent, flush } = open(invoke, { payloadBytes: 1_000 }, false);
      bridge.call(call(1));
      await tick();
      bridge.call(call(2));
      await tick();
      expect(invoked).toBe(2);
      bridge.call(call(3));
      bridge.call(call(4));
      await tick();
      expect([invoked, sent.length]).toEqual([2, 2]);
      flush[0]?.();
      await tick();
      expect(invoked).toBe(3);
      flush[1]?.();
      await tick();
      expect(invoked).toBe(4);
      expect(sent.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
    });
  });

  describe("end", () => {
    it("aborts pending calls, records them as failed and sends nothing more", async () => {
      const answer = Promise.withResolvers<ToolResult>();
      let signal: AbortSignal | undefined;
      const { bridge, sent } = open((_, context) => {
        ({ signal } = context);
        return answer.promise;
      });
      bridge.call(call(1, [1]));
      expect(signal?.aborted).toBe(false);
      const ended = bridge.end(false, [AbortSignal.abort()]);
      expect(signal?.aborted).toBe(true);
      expect(signal?.reason).toMatchObject({
        name: "AbortError",
        message: "The run that called this tool has ended.",
      });
      await ended;
      expect(bridge.records).toEqual([
        {
          server: "s",
          tool: "t1",
          ok: false,
          isCancelled: true,
          mayBeDone: true,
          args: "[1]",
          ms: expect.any(Number),
          startMs: expect.any(Number),
        },
      ]);
      answer.resolve({ ok: true, value: 1 });
      await tick();
      expect([sent, bridge.records.length]).toEqual([[], 1]);
    });

    it("waits for answers to calls that their program left, and tells which of the others may be done", async () => {
      const answer = Promise.withResolvers<ToolResult>();
      const { bridge, sent } = open(async ({ tool }, { signal }) => {
        if (tool === "t1") return answer.promise;
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        const details = tool === "t2" ? { isSent: true, mayBeDone: true } : {};
        return { ok: false, error: { code: "ABORTED", message: "cancelled", details } };
      });
      for (const id of [1, 2, 3]) bridge.call(call(id));
      const ended = bridge.end(true, []);
      await tick();
      answer.resolve({ ok: true, value: 1 });
      await ended;
      expect(sent).toEqual([]);
      expect(bridge.records).toMatchObject([
        { tool: "t2", isCancelled: true, mayBeDone: true },
        { tool: "t3", isCancelled: true },
        { tool: "t1", ok: true, result: "1" },
      ]);
      expect(bridge.records[1]).not.toHaveProperty("mayBeDone");
    });

    it("says that a program which ended by itself left its calls", async () => {
      let signal: AbortSignal | undefined;
      const { bridge } = open((_, context) => {
        ({ signal } = context);
        return new Promise(() => {});
      });
      bridge.call(call(1));
      void bridge.end(true, []);
      expect(signal?.reason).toMatchObject({ name: "UnawaitedCallError" });
    });

    it("drops calls that were held back", async () => {
      let invoked = 0;
      const invoke: Invoke = async () => {
        invoked += 1;
        return { ok: true, value: "x".repeat(2_000) };
      };
      const { bridge, flush } = open(invoke, { payloadBytes: 2_002 }, false);
      bridge.call(call(1));
      await tick();
      bridge.call(call(2));
      await tick();
      bridge.call(call(3));
      const before = invoked;
      await bridge.end(true, []);
      for (const flushed of flush) flushed();
      await tick();
      expect(invoked).toBe(before);
    });
  });

  describe("waiting for a person", () => {
    it("reports when the first question begins and the last one ends", async () => {
      const { bridge, waits } = open(async (_, { onWaiting }) => {
        onWaiting?.(true);
        onWaiting?.(true);
        onWaiting?.(false);
        onWaiting?.(false);
        onWaiting?.(false);
        return { ok: true, value: 1 };
      });
      bridge.call(call(1));
      await tick();
      expect(waits).toEqual([true, false]);
    });

    it("ends with the call, whatever it reports afterwards", async () => {
      let report: ((isWaiting: boolean) => void) | undefined;
      const { bridge, waits } = open(async (_, { onWaiting }) => {
        report = onWaiting;
        onWaiting?.(true);
        return { ok: true, value: 1 };
      });
      bridge.call(call(1));
      await tick();
      expect(waits).toEqual([true, false]);
      report?.(true);
      expect(waits).toEqual([true, false]);
    });
  });
});
