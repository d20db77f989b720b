import { CemError } from "@cem/core";
import { describe, expect, it } from "vitest";
import { outcome } from "../fixtures/stages.ts";
import { cancelledEnding, endingOf } from "./ending.ts";

describe("endingOf", () => {
  it("is a success with the value, or null without one", () => {
    expect(endingOf(outcome({ status: "completed", value: { a: 1 } }))).toEqual({
      status: "success",
      value: { a: 1 },
      error: null,
    });
    expect(endingOf(outcome({ status: "completed", value: undefined })).value).toBeNull();
  });

  const typeError = { name: "TypeError", message: "x is undefined", line: 3, column: 5 };
  it.each([
    [
      { status: "timed-out", limitMs: 2_500 },
      "timeout",
      "RUN_TIMED_OUT",
      "The code did not finish within 2.5 s and was stopped.",
      { limitMs: 2_500 },
    ],
    [
      { status: "out-of-memory", limitMb: 64 },
      "error",
      "RUN_OUT_OF_MEMORY",
      "The code needed more than 64 MiB of memory and was stopped.",
      { limitMb: 64 },
    ],
    [
      { status: "killed", reason: "call-limit", message: "1,000 calls" },
      "error",
      "RUN_KILLED",
      "1,000 calls",
      { reason: "call-limit" },
    ],
    [
      {
        status: "killed",
        reason: "meter",
        message: "2 of 2 s",
        code: "QUOTA_EXCEEDED",
        details: { runs: 1 },
      },
      "error",
      "QUOTA_EXCEEDED",
      "2 of 2 s",
      { runs: 1, reason: "meter", isUncertain: true },
    ],
    [{ status: "killed", reason: "aborted", message: "" }, "error", "ABORTED", "The run was cancelled.", {}],
    [
      { status: "refused", code: "WORKSPACE_LINK_REFUSED", message: "a link" },
      "refused",
      "WORKSPACE_LINK_REFUSED",
      "a link",
      {},
    ],
    [
      { status: "failed", kind: "exception", error: typeError },
      "error",
      "CODE_THREW",
      "Line 3 of the code threw TypeError: x is undefined",
      typeError,
    ],
    [
      { status: "failed", kind: "exception", error: { name: "Error", message: "no" } },
      "error",
      "CODE_THREW",
      "The code threw Error: no",
      { name: "Error", message: "no" },
    ],
    [
      {
        status: "failed",
        kind: "syntax",
        error: { name: "SyntaxError", message: "Unexpected token", line: 1 },
      },
      "error",
      "CODE_INVALID",
      "Line 1 of the code is not valid TypeScript, and was not run: Unexpected token",
      { name: "SyntaxError", message: "Unexpected token", line: 1 },
    ],
  ])("of %o is %s", (ending, status, code, message, details) => {
    expect(endingOf(outcome(ending))).toEqual({ status, value: null, error: { code, message, details } });
  });

  it("names no setting: the command line and the servers add what helps", () => {
    for (const ending of [
      { status: "timed-out", limitMs: 1 },
      { status: "out-of-memory", limitMb: 1 },
    ]) {
      expect(endingOf(outcome(ending)).error?.message).not.toMatch(/guardrails|cem |--|_/);
    }
  });
});

describe("cancelledEnding", () => {
  it("takes the error of the signal's reason, else ABORTED", () => {
    expect(cancelledEnding(AbortSignal.abort())).toEqual({
      status: "error",
      value: null,
      error: { code: "ABORTED", message: "The task was cancelled.", details: {} },
    });
    const disposed = new CemError("AGENT_DISPOSED", "gone", { details: { n: 1 } });
    expect(cancelledEnding(AbortSignal.abort(disposed))).toEqual({
      status: "error",
      value: null,
      error: { code: "AGENT_DISPOSED", message: "gone", details: { n: 1 } },
    });
  });
});
