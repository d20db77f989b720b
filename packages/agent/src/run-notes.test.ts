import type { Finding, RunOutcome, UnawaitedWork } from "@cem/core";
import { describe, expect, it } from "vitest";
import { outcome } from "../fixtures/stages.ts";
import { endingOf, notesOf } from "./ending.ts";

const given = { code: "", origin: "given" } as const;
const inCode = (call: { server: string; tool: string; ms: number; ok: boolean }) => ({
  ...call,
  tool: call.tool.replace("-", "_"),
});
const find: UnawaitedWork = { kind: "call", server: "crm", name: "find-all", line: 3, isStopped: false };
const read: UnawaitedWork = { kind: "operation", name: "Deno.readTextFile", isStopped: false };
const timer: UnawaitedWork = { kind: "timer", name: "setTimeout", line: 7, isStopped: true };

function notes(
  ending: object,
  unawaited: UnawaitedWork[] = [],
  origin: "given" | "rules" = "given",
  findings: Finding[] = [],
) {
  const ended = { ...outcome({ status: "completed", value: 1 }), ...ending, unawaited } as RunOutcome;
  return notesOf({ outcome: ended, program: { ...given, origin }, findings }, inCode);
}

describe("notesOf", () => {
  it("names what was not awaited, by its name in code, with its lines", () => {
    expect(notes({}, [find, { ...find, line: 5 }, read])).toEqual([
      "Still under way when the program had ended, so the run waited for it: crm.find_all (lines 3 and 5), Deno.readTextFile. Where nothing awaits it, await it or the function around it, unless that was meant.",
    ]);
  });

  it("names what was stopped, and no timer that has fired", () => {
    expect(notes({}, [timer, { ...timer, line: 8, isStopped: false }])).toEqual([
      "Stopped, since the code had returned: setTimeout (line 7). Await what has to happen before the end.",
    ]);
  });

  it("says that code returned and printed nothing, unless rules wrote it", () => {
    const said = [
      "The code printed nothing, and its value is undefined or a function that nothing calls: end with `return …` or `export default …` of a value.",
    ];
    expect(notes({ value: undefined })).toEqual(said);
    expect(
      notes({ value: undefined, toolCalls: [inCode({ server: "crm", tool: "find", ms: 1, ok: true })] }),
    ).toEqual([`${said[0]} Its calls were made: repeat none that changes something.`]);
    expect(notes({ value: undefined }, [], "rules")).toEqual([]);
    expect(notes({ value: undefined, output: "x" })).toEqual([]);
    expect(notes({ value: null })).toEqual([]);
    expect(notes({ status: "timed-out", limitMs: 1 }, [find])).toEqual([]);
    expect(notesOf({ outcome: undefined, program: given, findings: [] }, inCode)).toEqual([]);
  });

  it("carries what the type check suspected, whether the run threw or not, and nothing else that was found", () => {
    const suspicion: Finding = {
      rule: "unknown-member",
      severity: "warning",
      message: "c has no date. It has hash, author.",
      line: 3,
    };
    const other: Finding = { rule: "not-type-checked", severity: "warning", message: "It took too long." };
    const said = ["Line 3: c has no date. It has hash, author."];
    expect(notes({}, [], "given", [suspicion, other])).toEqual(said);
    expect(notes({ status: "failed", kind: "exception" }, [], "given", [suspicion])).toEqual(said);
  });
});

describe("endingOf a run that waited at its time limit", () => {
  it("names the calls", () => {
    const ended: RunOutcome = { ...outcome({ status: "timed-out", limitMs: 500 }), unawaited: [find] };
    expect(endingOf(ended, inCode).error?.message).toBe(
      "The code did not finish within 0.5 s and was stopped. It had returned, and the run waited for what it did not await: crm.find_all (line 3).",
    );
  });
});
