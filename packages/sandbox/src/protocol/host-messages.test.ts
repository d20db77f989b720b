import { describe, expect, it } from "vitest";
import { encodeHostMessage, encodeResult } from "./host-messages.ts";

const CALL = { id: 3, server: "s", tool: "t" };
const parse = (line: string): unknown => JSON.parse(line);

describe("encodeHostMessage", () => {
  it("writes one line", () => {
    expect(encodeHostMessage({ type: "init", token: "a\nb", reuse: undefined })).toBe(
      '{"type":"init","token":"a\\nb"}\n',
    );
    expect(encodeHostMessage({ type: "ping" })).toBe('{"type":"ping"}\n');
  });
});

describe("encodeResult", () => {
  it("writes a value on one line", () => {
    const { line, ok, json } = encodeResult(CALL, { ok: true, value: "a\nb\u2028c" }, 1_000);
    expect([ok, json]).toEqual([true, '"a\\nb\u2028c"']);
    expect(line.indexOf("\n")).toBe(line.length - 1);
    expect(parse(line)).toEqual({ type: "result", id: 3, ok: true, value: "a\nb\u2028c" });
  });

  it("writes null for undefined", () => {
    expect(encodeResult(CALL, { ok: true, value: undefined as never }, 10).json).toBe("null");
  });

  it("marks results that may hold handles", () => {
    const value = { path: "/workspace/results/1.txt" };
    expect(parse(encodeResult(CALL, { ok: true, value }, 1_000).line)).toMatchObject({ handles: true });
    const other = encodeResult(CALL, { ok: true, value: "see /workspace/results/1.txt" }, 1_000);
    expect(parse(other.line)).not.toHaveProperty("handles");
  });

  it("takes values up to the limit in bytes", () => {
    const value = "é".repeat(9);
    expect(encodeResult(CALL, { ok: true, value }, 20)).toMatchObject({ ok: true });
    const { line, ok, json } = encodeResult(CALL, { ok: true, value }, 19);
    expect([ok, json]).toEqual([false, ""]);
    expect(parse(line)).toMatchObject({
      type: "result",
      id: 3,
      ok: false,
      error: { code: "RESULT_TOO_LARGE", details: { server: "s", tool: "t", bytes: 20, limitBytes: 19 } },
    });
  });

  it("makes a value that is not JSON an error", () => {
    const cyclic: Record<string, never> = {};
    Object.assign(cyclic, { self: cyclic });
    const { line, ok } = encodeResult(CALL, { ok: true, value: cyclic }, 1_000);
    expect(ok).toBe(false);
    expect(parse(line)).toMatchObject({ id: 3, ok: false, error: { code: "RESULT_NOT_JSON" } });
  });

  it("passes errors on with their details, and drops details that are not JSON", () => {
    const error = { code: "E", message: "m", details: { a: 1 } };
    expect(parse(encodeResult(CALL, { ok: false, error }, 1_000).line)).toEqual({
      type: "result",
      id: 3,
      ok: false,
      error,
    });
    const big = { ...error, details: { a: 1n } };
    const { line, ok, json } = encodeResult(CALL, { ok: false, error: big }, 1_000);
    expect([ok, json]).toEqual([false, ""]);
    expect(parse(line)).toEqual({ type: "result", id: 3, ok: false, error: { code: "E", message: "m" } });
  });

  it("cuts an error that is larger than the limit", () => {
    const error = { code: "E", message: "y".repeat(3_000), details: { z: "z" } };
    expect(parse(encodeResult(CALL, { ok: false, error }, 3_000).line)).toMatchObject({ error });
    const { line } = encodeResult(CALL, { ok: false, error }, 1_000);
    expect(parse(line)).toEqual({
      type: "result",
      id: 3,
      ok: false,
      error: { code: "E", message: "y".repeat(1_024) },
    });
    expect(line.at(-1)).toBe("\n");
  });
});
