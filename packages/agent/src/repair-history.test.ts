import type { GeneratedCode, GenerationUsage, RunOutcome } from "@cem/core";
import { describe, expect, it } from "vitest";
import { outcome, written } from "../fixtures/stages.ts";
import { endingOf } from "./ending.ts";
import { RepairHistory } from "./repair-history.ts";

const usage: GenerationUsage = { model: "a", requests: 1, inputTokens: 10, outputTokens: 2, cost: 0.5 };
const finding = { rule: "x", severity: "error", message: "wrong" } as const;

function generated(change: Partial<GeneratedCode> = {}): GeneratedCode {
  return { ...written, origin: "llm", ...change };
}

/** Records a failed run, or a refusal when there is no outcome. */
function record(history: RepairHistory, code: string, message: string, run?: RunOutcome): string | undefined {
  const ending = { status: "error", value: null, error: { code: "X", message, details: {} } } as const;
  return history.recordOutcome({ code, ending, findings: [finding], outcome: run, expectsValue: false });
}

const threw = outcome({ status: "failed", kind: "exception", error: { name: "E", message: "m" } });

describe("recordGeneration", () => {
  it("counts code, not refusals, and adds up notes and costs", () => {
    const history = new RepairHistory(2);
    expect([history.attempts, history.usage]).toEqual([0, undefined]);
    history.recordGeneration(generated({ usage, notes: ["first"] }));
    history.recordGeneration(generated());
    history.recordGeneration({
      status: "refused",
      steps: [],
      usage: { ...usage, model: "b" },
      notes: ["second"],
    });
    expect(history.attempts).toBe(2);
    expect(history.notes).toEqual(["first", "second"]);
    expect(history.usage).toEqual({ model: "b", requests: 2, inputTokens: 20, outputTokens: 4, cost: 1 });
  });

  it("knows no cost when one is unknown", () => {
    for (const costs of [
      [undefined, 1],
      [1, undefined],
    ]) {
      const history = new RepairHistory(2);
      for (const cost of costs) history.recordGeneration(generated({ usage: { ...usage, cost } }));
      expect(history.usage?.cost).toBeUndefined();
    }
  });
});

describe("recordOutcome", () => {
  it("has no code repaired after a person refused a call", () => {
    const error = { code: "NOT_APPROVED", message: "refused", details: {} } as const;
    const refused = { server: "files", tool: "delete", ms: 1, ok: false, error };
    const fails = { ...threw, toolCalls: [refused] };
    expect(record(new RepairHistory(2), "code", "It threw.", fails)).toBeUndefined();
    const failed = { ...refused, error: { ...error, code: "TOOL_FAILED" as const } };
    expect(record(new RepairHistory(2), "code", "It threw.", { ...threw, toolCalls: [failed] })).toBe(
      "It threw.",
    );
  });

  const start = (maxRepairs = 2): RepairHistory => {
    const history = new RepairHistory(maxRepairs);
    history.recordGeneration(generated());
    return history;
  };

  it("gives the reason for another attempt and tells the generator of the run", () => {
    const history = start();
    const call = { server: "s", tool: "t", ms: 1, ok: true, args: "{}", result: "8" };
    const run = { ...threw, output: "printed", toolCalls: [call] };
    expect(history.ranBefore).toBe(false);
    expect(record(history, "1", "Line 3 threw", run)).toBe("Line 3 threw");
    expect(history.ranBefore).toBe(true);
    expect(history.feedback).toEqual([
      {
        code: "1",
        error: expect.objectContaining({ message: "Line 3 threw" }),
        output: "printed",
        calls: [{ server: "s", tool: "t", ok: true, args: "{}", result: "8" }],
      },
    ]);
  });

  it("tells the generator of the findings when the code was not run", () => {
    const history = start();
    expect(record(history, "1", "refused")).toBe("refused");
    expect(history.feedback).toEqual([{ code: "1", findings: [finding] }]);
    expect(history.ranBefore).toBe(false);
  });

  it("gives none on success", () => {
    const ending = endingOf(outcome({ status: "completed", value: 1 }));
    const history = start();
    const attempt = { code: "1", ending, findings: [], outcome: threw, expectsValue: true };
    expect(history.recordOutcome(attempt)).toBeUndefined();
    expect(history.feedback).toEqual([]);
  });

  it("gives one for a run without a result once, where the task asks for one", () => {
    const empty = outcome({ status: "completed", value: null });
    const attempt = { code: "1", ending: endingOf(empty), findings: [], outcome: empty };
    const history = start();
    expect(history.recordOutcome({ ...attempt, expectsValue: false })).toBeUndefined();
    const printed = { ...attempt, outcome: { ...empty, output: "8" } };
    expect(history.recordOutcome({ ...printed, expectsValue: true })).toBeUndefined();
    expect(history.recordOutcome({ ...attempt, expectsValue: true })).toBe("The code returned nothing.");
    expect(history.feedback).toEqual([{ code: "1", returnedNothing: true, output: "", calls: [] }]);
    expect(history.ranBefore).toBe(true);
    expect(history.recordOutcome({ ...attempt, code: "2", expectsValue: true })).toBeUndefined();
  });

  it.each([
    [null, true],
    [[null, null], true],
    [{ total: null, rows: [{ a: null }] }, true],
    [[], false],
    [{}, false],
    [[{}, {}], false],
    [{ total: null, count: 0 }, false],
    ["", false],
    [false, false],
  ])("takes %j for a result or not", (value, isEmpty) => {
    const empty = outcome({ status: "completed", value });
    const attempt = { code: "1", ending: endingOf(empty), outcome: empty, expectsValue: true };
    expect(start().recordOutcome({ ...attempt, findings: [] }) !== undefined).toBe(isEmpty);
    // Fields that are not there are left out of what is returned.
    const suspicion = { rule: "unknown-member", severity: "warning", message: "c has no date." } as const;
    const isSuspect = isEmpty || JSON.stringify(value).includes("{}");
    expect(start().recordOutcome({ ...attempt, findings: [suspicion] }) !== undefined).toBe(isSuspect);
  });

  it("gives none after the allowed number of repairs", () => {
    const history = start(1);
    expect(record(history, "1", "first", threw)).toBe("first");
    history.recordGeneration(generated());
    expect(record(history, "2", "second", threw)).toBeUndefined();
    expect(record(start(0), "1", "first", threw)).toBeUndefined();
  });

  it("gives none when the message repeats on another line, or the code repeats", () => {
    const history = start(9);
    expect(record(history, "1", "Line 3 threw, Line 4 too", threw)).toBeDefined();
    expect(record(history, "2", "Line 13 threw, Line 5 too", threw)).toBeUndefined();
    expect(record(history, "3", "Line threw otherwise", threw)).toBeDefined();
    expect(record(history, "1", "yet another", threw)).toBeUndefined();
    expect(record(start(9), "1", "Outline 3", threw)).toBeDefined();
  });

  it.each(["output-flood", "call-limit", "payload-limit", "write-limit", "workspace-quota"])(
    "gives one after %s",
    (reason) => {
      expect(record(start(), "1", "m", outcome({ status: "killed", reason, message: "" }))).toBe("m");
    },
  );

  it.each(["aborted", "crashed", "protocol", "disposed"])("gives none after %s", (reason) => {
    const history = start();
    expect(record(history, "1", "m", outcome({ status: "killed", reason, message: "" }))).toBeUndefined();
    expect(history.feedback).toEqual([]);
  });

  it("gives one after a timeout and none after a refused run", () => {
    expect(record(start(), "1", "m", outcome({ status: "timed-out", limitMs: 1 }))).toBe("m");
    const refused = outcome({ status: "refused", code: "X", message: "m" });
    expect(record(start(), "1", "m", refused)).toBeUndefined();
  });
});
