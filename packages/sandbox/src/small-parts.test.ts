import { describe, expect, it } from "vitest";
import { explainExit, isAllocationFailure } from "./guest-exit.ts";
import { mapGuestError } from "./guest-stack.ts";
import { encodeResult } from "./host-messages.ts";
import { jsonDepth } from "./json-depth.ts";
import { resolveLimits } from "./run-limits.ts";
import { RunOutput } from "./run-output.ts";

describe("jsonDepth", () => {
  it.each([
    ["1", 0],
    ["[]", 1],
    ['{"a":[{"b":[]}]}', 4],
    ['"[[[[{{{{"', 0],
    [String.raw`["\"[[", "\\", [1]]`, 2],
    ['"never closed [[[', 0],
  ])("of %s is %i", (json, depth) => {
    expect(jsonDepth(Buffer.from(json), 100)).toBe(depth);
  });

  it("stops counting beyond the limit", () => {
    expect(jsonDepth(Buffer.from("[".repeat(1_000_000)), 10)).toBe(11);
  });
});

describe("mapGuestError", () => {
  const url = "blob:null/0a1b";

  it("keeps the program's frames, with its own lines", () => {
    const stack = `Error: x
    at check (${url}:5:7)
    at add (file:///workspace/servers/c/index.ts:2:9)
    at async Module.default (${url}:8:1)
    at async run (file:///cem/guest/boot.js:1:1)`;
    expect(mapGuestError({ name: "Error", message: "x", stack }, 1)).toEqual({
      name: "Error",
      message: "x",
      line: 4,
      column: 7,
      stack: "at check (program.ts:4:7)\nat program.ts:7:1",
    });
  });

  it("takes a place out of the message where the stack has none", () => {
    const message = `Expected ';' at ${url}:3:9`;
    expect(mapGuestError({ name: "SyntaxError", message, stack: "" }, 1)).toMatchObject({
      message: "Expected ';'",
      line: 2,
      column: 9,
    });
  });

  it("prefers the place that the guest names", () => {
    const raw = { name: "E", message: "m", stack: `E\n at ${url}:9:9`, line: 3, column: 4 };
    expect(mapGuestError(raw, 1)).toMatchObject({ line: 3, column: 4 });
  });
});

describe("explainExit", () => {
  const context = { stderr: "", peakBytes: 0, memoryMb: 100 };

  it("tells what memory did from what others did", () => {
    expect(explainExit({ code: null, signal: "SIGKILL" }, context)).toMatchObject({ status: "killed" });
    const full = { ...context, peakBytes: 95 * 1024 * 1024 };
    expect(explainExit({ code: 137, signal: null }, full)).toMatchObject({ status: "out-of-memory" });
    const said = { ...context, stderr: "# Fatal JavaScript out of memory: Reached heap limit" };
    expect(explainExit({ code: 133, signal: null }, said)).toMatchObject({ status: "out-of-memory" });
    expect(explainExit({ code: null, signal: "SIGXFSZ" }, context)).toMatchObject({ reason: "write-limit" });
  });
});

describe("isAllocationFailure", () => {
  it("knows refused memory from other range errors", () => {
    expect(isAllocationFailure({ name: "RangeError", message: "Array buffer allocation failed" })).toBe(true);
    expect(isAllocationFailure({ name: "RangeError", message: "Invalid array length" })).toBe(false);
    expect(isAllocationFailure({ name: "Error", message: "Array buffer allocation failed" })).toBe(false);
  });
});

describe("RunOutput", () => {
  it("joins characters that arrive in parts, by stream", () => {
    const output = new RunOutput(100);
    const bytes = Buffer.from("é");
    output.add("stdout", bytes.subarray(0, 1));
    output.add("stderr", Buffer.from("!"));
    output.add("stdout", bytes.subarray(1));
    expect(output.text).toBe("!é");
  });

  it("counts what it drops, and knows a flood", () => {
    const output = new RunOutput(4);
    output.add("stdout", Buffer.from("123456"));
    expect([output.text, output.droppedBytes, output.isFlood]).toEqual(["1234", 2, false]);
    output.add("stdout", Buffer.alloc(65 * 1024 * 1024));
    expect(output.isFlood).toBe(true);
  });
});

describe("encodeResult", () => {
  const CALL = { id: 1, server: "s", tool: "t" };

  it("turns what can't be sent into an error that says so", () => {
    const cyclic: Record<string, never> = {};
    Object.assign(cyclic, { self: cyclic });
    expect(encodeResult(CALL, { ok: true, value: cyclic }, 1_000).line).toContain("RESULT_NOT_JSON");
    expect(encodeResult(CALL, { ok: true, value: "x".repeat(2_000) }, 1_000).line).toContain(
      "RESULT_TOO_LARGE",
    );
    const error = { code: "E", message: "y".repeat(100_000), details: {} };
    expect(encodeResult(CALL, { ok: false, error }, 1_000).line.length).toBeLessThan(3_000);
  });

  it("keeps a result on one line", () => {
    expect(encodeResult(CALL, { ok: true, value: "a\nb\u2028c" }, 1_000).line.indexOf("\n")).toBe(
      encodeResult(CALL, { ok: true, value: "a\nb\u2028c" }, 1_000).line.length - 1,
    );
  });
});

describe("resolveLimits", () => {
  it("takes the last that was said, and refuses what is no limit", () => {
    expect(resolveLimits({ calls: 5, timeoutMs: 10 }, { calls: 7 })).toMatchObject({
      calls: 7,
      timeoutMs: 10,
      memoryMb: 512,
    });
    expect(() => resolveLimits({ memoryMb: -1 })).toThrowError(/memoryMb is -1/);
    expect(() => resolveLimits({ timeoutMs: Number.NaN })).toThrowError(/timeoutMs is NaN/);
    expect(resolveLimits({ timeoutMs: 1e15 }).timeoutMs).toBe(2_147_483_647);
  });
});
