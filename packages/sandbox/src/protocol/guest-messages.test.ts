import { describe, expect, it, vi } from "vitest";
import { readGuestMessage as readFrame } from "./guest-messages.ts";

const CALL = { type: "call", id: 0, server: "s", tool: "t", args: null };
const TRACE = { type: "trace", server: "s", tool: "t", ms: 0, ok: false, characters: 0, sample: "" };
const ERROR = { name: "E", message: "m", stack: "" };
const FAILED = { type: "failed", kind: "exception", error: ERROR };

function readGuestMessage(frame: Buffer) {
  const read = readFrame(frame);
  return typeof read === "string" ? { ok: false, problem: read } : { ok: true, message: read };
}
const read = (message: unknown) => readGuestMessage(Buffer.from(JSON.stringify(message)));
const nested = (levels: number) => `{"type":"done","value":${"[".repeat(levels)}${"]".repeat(levels)}}`;

describe("readGuestMessage", () => {
  it.each<[string, object]>([
    ["ready", { type: "ready", version: "2.9.5" }],
    ["stderr", { type: "stderr", text: "" }],
    ["a call", CALL],
    ["a call with arguments", { ...CALL, id: 7, args: { a: [1, "x", false] } }],
    ["a trace", TRACE],
    ["a trace with arguments", { ...TRACE, args: "x".repeat(2_048), sample: "x".repeat(65_536) }],
    ["a limit of payloads", { type: "limit", of: "argument" }],
    ["done", { type: "done" }],
    ["done with a value", { type: "done", value: null }],
    ["an exception", FAILED],
    [
      "a long exception",
      {
        ...FAILED,
        error: { name: "n".repeat(1_024), message: "m".repeat(16_384), stack: "s".repeat(65_536) },
      },
    ],
    ["a syntax error", { ...FAILED, kind: "syntax" }],
    ["names of 256 characters", { ...CALL, server: "s".repeat(256), tool: "t".repeat(256) }],
  ])("accepts %s", (_, message) => {
    expect(read(message)).toEqual({ ok: true, message });
  });

  it.each<[string, unknown]>([
    ["null", null],
    ["an array", [CALL]],
    ["no type", {}],
    ["an unknown type", { type: "grant" }],
    ["a long version", { type: "ready", version: "x".repeat(257) }],
    ["no text", { type: "stderr" }],
    ["a negative id", { ...CALL, id: -1 }],
    ["a fractional id", { ...CALL, id: 1.5 }],
    ["an id as text", { ...CALL, id: "1" }],
    ["a long server", { ...CALL, server: "x".repeat(257) }],
    ["a long tool", { ...CALL, tool: "x".repeat(257) }],
    ["no arguments", { ...CALL, args: undefined }],
    ["a negative time", { ...TRACE, ms: -1 }],
    ["another member of a call", { ...CALL, value: 1 }],
    ["another member of a limit", { type: "limit", of: "value", value: 1 }],
    ["another member of a value", { type: "done", value: 1, kind: "syntax" }],
    ["another member of a failure", { ...FAILED, value: 1 }],
    ["another member of an error", { ...FAILED, error: { ...ERROR, value: 1 } }],
    ["no outcome", { ...TRACE, ok: 1 }],
    ["long arguments", { ...TRACE, args: "x".repeat(2_049) }],
    ["a long sample", { ...TRACE, sample: "x".repeat(65_537) }],
    ["a negative length", { ...TRACE, characters: -1 }],
    ["a limit of its own", { type: "limit", of: "time" }],
    ["another kind of failure", { ...FAILED, kind: "fatal" }],
    ["no error", { type: "failed", kind: "syntax" }],
    ["a long name of an error", { ...FAILED, error: { ...ERROR, name: "x".repeat(1_025) } }],
    ["a long message of an error", { ...FAILED, error: { ...ERROR, message: "x".repeat(16_385) } }],
    ["a long stack", { ...FAILED, error: { ...ERROR, stack: "x".repeat(65_537) } }],
  ])("rejects %s", (_, message) => {
    expect(read(message)).toEqual({ ok: false, problem: "a message of the wrong shape" });
  });

  it("rejects what is not JSON", () => {
    expect(readGuestMessage(Buffer.from("{"))).toEqual({ ok: false, problem: "a message that is not JSON" });
    expect(readGuestMessage(Buffer.alloc(0))).toMatchObject({ ok: false });
  });

  it("rejects messages of very many values without parsing them", () => {
    const frame = Buffer.from(`{"type":"done","value":[${"[],".repeat(2_000_000)}1]}`);
    const parse = vi.spyOn(JSON, "parse");
    expect(readGuestMessage(frame)).toEqual({
      ok: false,
      problem: "a message of more than 1,000,000 values",
    });
    expect(parse).not.toHaveBeenCalled();
    parse.mockRestore();
    const most = `{"type":"done","value":[${"{},".repeat(999_998)}1]}`;
    expect(readGuestMessage(Buffer.from(most)).ok).toBe(true);
  });

  it("rejects messages of very many different names without parsing them", () => {
    const members = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":0`).join();
    expect(readGuestMessage(Buffer.from(`{"type":"done","value":{${members(100_100)}}}`))).toEqual({
      ok: false,
      problem: "a message of more than 100,000 different names",
    });
    expect(readGuestMessage(Buffer.from(`{"type":"done","value":{${members(100_000)}}}`)).ok).toBe(true);
    const rows = `[${`{${members(20)}},`.repeat(40_000)}0]`;
    expect(readGuestMessage(Buffer.from(`{"type":"done","value":${rows}}`)).ok).toBe(true);
  });

  it("rejects values nested deeper than 500 levels", () => {
    expect(readGuestMessage(Buffer.from(nested(501)))).toMatchObject({ ok: true });
    expect(readGuestMessage(Buffer.from(nested(502)))).toEqual({
      ok: false,
      problem: "a message nested deeper than 500 levels",
    });
    expect(readGuestMessage(Buffer.from(nested(1_000_000)))).toMatchObject({ ok: false });
  });
});
