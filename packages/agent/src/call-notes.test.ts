import { describe, expect, it } from "vitest";
import { outcome } from "../fixtures/stages.ts";
import { callNotes } from "./call-notes.ts";

const threw = { status: "failed", kind: "exception", error: { name: "TypeError", message: "m" } } as const;
const call = { server: "crm", tool: "find-all", ms: 1, ok: true, args: `{"id":7}` };
const notes = (calls: object[], ended: object = threw, code = "") =>
  callNotes({ ...outcome(threw), ...ended, toolCalls: calls } as never, code, (one) => ({
    ...one,
    tool: one.tool.replace("-", "_"),
  }));

describe("callNotes", () => {
  it("show what calls returned before the code threw, by their names in code", () => {
    expect(notes([{ ...call, result: `[{"name":"Ada"}]` }])).toEqual([
      `The calls before the error:\ncrm.find_all({"id":7}) → [{"name":"Ada"}]`,
    ]);
  });

  it("point at a failure that a tool reports in its answer, and at the call that failed", () => {
    const error = { code: "TOOL_FAILED", message: "gone", details: {} };
    const [text = ""] = notes([
      { ...call, result: `{"success":false,"error":"no such id"}` },
      { ...call, result: `{"id":1,"ok": false}` },
      { ...call, result: `{"error":"none"}` },
      { ...call, result: `{"error":null,"rows":[]}` },
      { ...call, ok: false, error },
    ]);
    const told = text.split("\n").slice(1);
    expect(told.map((line) => line.endsWith("(the tool reports a failure)"))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ]);
    expect(told.at(-1)).toBe(`crm.find_all({"id":7}) → failed: gone`);
  });

  it("say of a large text how it is read", () => {
    const handle = { type: "text", mimeType: "text/plain", size: 2e6, path: "/workspace/results/1-log.txt" };
    const [text = ""] = notes([{ ...call, result: JSON.stringify(handle) }]);
    expect(text).toContain("a handle: read it with await result.text(), or in parts with page(");
  });

  it("cut long answers between two values, and leave out calls of long ago", () => {
    const long = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ mail: `person${id}@example.com` })));
    const calls = Array.from({ length: 20 }, (_, id) => ({ ...call, args: `{"id":${id}}`, result: long }));
    const [text = ""] = notes(calls);
    const lines = text.split("\n").slice(1);
    expect(lines).toHaveLength(7);
    expect(lines.at(-1)).toBe("and 14 earlier, all answered");
    expect(lines[0]).toMatch(/[,:{[]…$/u);
    expect(lines[0]?.match(/@/gu)?.length).toBe(lines[0]?.match(/@example\.com"/gu)?.length);
  });

  it("say that + joined a long number, which is text, to other digits", () => {
    const calls = [{ ...call, result: '[{"n":"7205759403792793601"},{"n":"17205759403792793601"},{"n":2}]' }];
    const of = (value: unknown, output = "") => notes(calls, { status: "completed", value, output });
    const joined = [expect.stringContaining("count with BigInt(text)")];
    expect(of({ sum: "072057594037927936012" })).toEqual(joined);
    expect(of(undefined, "Sum: 072057594037927936012\n")).toEqual(joined);
    expect(of(["7205759403792793601", "17205759403792793601", 2])).toEqual([]);
    expect(notes([call], { status: "completed", value: "072057594037927936012" })).toEqual([]);
  });

  it("say how many they leave out, and how many of those failed", () => {
    const error = { code: "TOOL_FAILED", message: "gone\n  away", details: {} };
    const calls = Array.from({ length: 12 }, (_, id) => ({ ...call, args: `{"id":${id}}`, result: "1" }));
    const failing = { ...call, ok: false, error };
    const linesOf = (all: object[]): string[] => notes(all).join("\n").split("\n").slice(1);
    const last = linesOf([...calls, failing]);
    expect(last).toHaveLength(7);
    expect(last.slice(-2)).toEqual([
      `crm.find_all({"id":7}) → failed: gone away`,
      "and 7 earlier, all answered",
    ]);
    expect(linesOf([{ ...failing }, { ...failing }, { ...failing }, ...calls]).at(-1)).toBe(
      "and 9 earlier, of which 1 failed",
    );
    expect(linesOf(calls.slice(0, 6))).toHaveLength(6);
  });

  it("count what a loop does again and again", () => {
    const [text = ""] = notes(Array.from({ length: 4 }, () => ({ ...call, result: "1" })));
    expect(text.split("\n").slice(1)).toEqual([`crm.find_all({"id":7}) → 1 (4 times)`]);
  });

  it("shorten arguments that stand in the code", () => {
    const text = "Dear Ada ".repeat(20);
    const given = { ...call, args: JSON.stringify({ to: ["ada", "bob"], text }), result: "1" };
    const [computed = ""] = notes([given]);
    expect(computed).toContain(text);
    const code = `await find_all({ to: ["ada", "bob"], text: "${text}" })`;
    const [stated = ""] = notes([given], threw, code);
    expect(stated).toBe('The calls before the error:\ncrm.find_all({"to":["ada","bob"],"text":…) → 1');
  });

  it("have the call that failed among many, and say of those without an answer whether they may have been carried out", () => {
    const error = { code: "TOOL_FAILED", message: "gone", details: {} };
    const calls = Array.from({ length: 20 }, (_, id) => ({ ...call, args: `{"id":${id}}`, result: "1" }));
    const failing = { ...call, args: `{"id":99}`, ok: false, error };
    const cancelled = { ...call, args: `{"id":100}`, ok: false, isCancelled: true };
    const [text = ""] = notes([
      calls[0] ?? call,
      failing,
      ...calls.slice(1),
      cancelled,
      { ...cancelled, args: `{"id":101}`, mayBeDone: true },
      ...Array.from({ length: 7 }, () => cancelled),
    ]);
    const lines = text.split("\n").slice(1);
    expect(lines).toHaveLength(10);
    expect(lines[0]).toBe(`crm.find_all({"id":99}) → failed: gone`);
    expect(lines.slice(-5)).toEqual([
      `crm.find_all({"id":19}) → 1`,
      "and 15 earlier, all answered",
      `crm.find_all({"id":101}) → no answer came. It may have been carried out: look before you repeat it`,
      `crm.find_all({"id":100}) → cancelled before it could change anything (6 times)`,
      "2 more: cancelled before it could change anything",
    ]);
  });

  it("tell of a run that was stopped, and of a race that a call lost, what may have been done", () => {
    const stopped = { status: "out-of-memory", limitMb: 512 };
    expect(notes([{ ...call, result: "1" }], stopped)).toEqual([
      'The calls before the error:\ncrm.find_all({"id":7}) → 1',
    ]);
    const lost = { ...call, ok: false, isCancelled: true, mayBeDone: true };
    expect(notes([lost], { status: "completed", value: 1 })).toEqual([
      expect.stringContaining("It may have been carried out"),
    ]);
  });

  it("tell how calls ended that code had given up, or did not await", () => {
    const error = { code: "TOOL_FAILED", message: "gone", details: {} };
    const late = { ...call, isLate: true };
    const calls = Array.from({ length: 7 }, (_, id) => ({ ...late, args: `{"id":${id}}`, result: `${id}` }));
    const failing = { ...late, ok: false, args: `{"id":9}`, error };
    const stopped = { ...late, ok: false, isCancelled: true };
    const told = notes([{ ...call, result: "1" }, failing, ...calls, stopped], {
      status: "completed",
      value: 1,
    });
    expect(told).toHaveLength(2);
    expect(told[0]?.split("\n")).toEqual([
      expect.stringContaining("Repeat none that was carried out"),
      `crm.find_all({"id":9}) → failed: gone`,
      ...[2, 3, 4, 5, 6].map((id) => `crm.find_all({"id":${id}}) → ${id}`),
      "and 2 earlier, all answered",
    ]);
    expect(told[1]).toContain("cancelled before");
    expect(notes([{ ...late, result: "1" }])).toEqual([
      expect.stringMatching(/^The calls before the error/u),
    ]);
  });

  it("are none where the code did not throw, called nothing, or made the one call that the error names", () => {
    expect(notes([])).toEqual([]);
    const error = { code: "TOOL_FAILED", message: threw.error.message, details: {} };
    const failing = { ...call, ok: false, error };
    expect(notes([failing])).toHaveLength(1);
    const caught = { ...failing, error: { ...error, message: "gone" } };
    expect(notes([caught], threw, "await find_all({ id: 7 })")).toHaveLength(1);
    expect(notes([failing], threw, "await find_all({ id: 7 })")).toEqual([]);
    expect(notes([{ ...call, result: "1" }], { status: "completed", value: 1 })).toEqual([]);
  });

  it("name the tools whose answers may have made the result of a program wrong", () => {
    const empty = { ...call, tool: "get-page", result: '""' };
    const failing = { ...call, result: `{"success":false,"error":"no such id"}` };
    expect(notes([empty, { ...call, result: "1" }, failing, empty], { status: "completed" })).toEqual([
      "Answered with an empty text: crm.get_page.",
      "Reported a failure in the answer: crm.find_all.",
    ]);
  });
});
