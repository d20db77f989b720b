import { describe, expect, it } from "vitest";
import { explainExit, isAllocationFailure } from "./guest-exit.ts";

describe("explainExit", () => {
  const context = { stderr: "", peakBytes: 0, memoryMb: 100, openCalls: 0 };

  it("takes the code 0 as the end of a program, unless that left calls", () => {
    const exit = { code: 0, signal: null };
    expect(explainExit(exit, context)).toEqual({ status: "completed", value: undefined });
    const error = { name: "ExitError" };
    for (const [code, openCalls] of [
      [0, 1],
      [1, 0],
    ] as const)
      expect(explainExit({ ...exit, code }, { ...context, openCalls })).toMatchObject({
        status: "failed",
        error,
      });
  });

  it("tells what memory did from what others did", () => {
    expect(explainExit({ code: null, signal: "SIGKILL" }, context)).toMatchObject({ status: "killed" });
    const full = { ...context, peakBytes: 95 * 1024 * 1024 };
    expect(explainExit({ code: 137, signal: null }, full)).toMatchObject({ status: "out-of-memory" });
    const said = { ...context, stderr: "# Fatal JavaScript out of memory: Reached heap limit" };
    expect(explainExit({ code: 133, signal: null }, said)).toMatchObject({ status: "out-of-memory" });
    for (const exit of [
      { code: null, signal: "SIGXFSZ" },
      { code: 153, signal: null },
    ]) {
      expect(explainExit(exit, context)).toEqual({
        status: "killed",
        reason: "write-limit",
        message: "The program wrote a file that is too large.",
      });
    }
  });
});
describe("isAllocationFailure", () => {
  it("knows refused memory from other range errors", () => {
    expect(isAllocationFailure({ name: "RangeError", message: "Array buffer allocation failed" })).toBe(true);
    expect(isAllocationFailure({ name: "RangeError", message: "Invalid array length" })).toBe(false);
    expect(isAllocationFailure({ name: "Error", message: "Array buffer allocation failed" })).toBe(false);
  });
});
