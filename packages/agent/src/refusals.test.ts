import type { Finding, GenerationRefused, RankedTool } from "@cem/core";
import { describe, expect, it } from "vitest";
import { add } from "../fixtures/stages.ts";
import { refusedCode, refusedGeneration, withUnavailable } from "./refusals.ts";

const ranked: RankedTool = { tool: add, score: 0.4, reason: "" };
const refusal: GenerationRefused = {
  status: "refused",
  steps: [
    { step: "add", reason: "missing-argument", hint: "Say what to add." },
    { step: "send", reason: "no-tool", hint: "No tool can send." },
  ],
};
const error: Finding = { rule: "a", severity: "error", message: "It is wrong.", line: 3 };
const other: Finding = { rule: "b", severity: "error", message: "So is it." };
const warning: Finding = { rule: "c", severity: "warning", message: "Mind it." };

describe("refusedGeneration", () => {
  it("says of each step what helps, and which tools are nearest", () => {
    expect(refusedGeneration(refusal, { nearest: [ranked], tools: 3 })).toEqual({
      status: "refused",
      value: null,
      error: {
        code: "ARGUMENT_MISSING",
        message: "Say what to add. No tool can send. Nothing was run.",
        details: { steps: refusal.steps, tools: 3, nearest: [{ tool: "calculator.add", score: 0.4 }] },
      },
    });
  });

  it("has the code NO_TOOL when the first step has no tool, or there is no step", () => {
    const steps = refusal.steps.toReversed();
    expect(refusedGeneration({ ...refusal, steps }, { nearest: [], tools: 0 }).error?.code).toBe("NO_TOOL");
    expect(refusedGeneration({ ...refusal, steps: [] }, { nearest: [], tools: 0 }).error?.code).toBe(
      "NO_TOOL",
    );
  });
});

describe("withUnavailable", () => {
  it("adds the tools that fit and can't be called, with the reason", () => {
    const unavailable = { code: "SERVER_DOWN", message: "It does not answer.", details: {} };
    const fitting = [ranked, { ...ranked, tool: { ...add, unavailable } }];
    const { steps } = withUnavailable(refusal, "Add 5 and 3", fitting);
    expect(steps).toEqual([
      ...refusal.steps,
      {
        step: "Add 5 and 3",
        reason: "no-tool",
        tool: "calculator.add",
        hint: "calculator.add fits, but can't be called: It does not answer.",
        unavailable,
      },
    ]);
  });

  it("leaves a refusal as it is when there is none", () => {
    expect(withUnavailable(refusal, "x", [ranked])).toBe(refusal);
  });
});

describe("refusedCode for the guard", () => {
  it("gives the errors, with their lines", () => {
    const findings = [error, warning, other];
    expect(refusedCode("CODE_REFUSED", findings, { ranBefore: false })).toEqual({
      status: "refused",
      value: null,
      error: {
        code: "CODE_REFUSED",
        message: "Line 3: It is wrong. So is it. Nothing was run.",
        details: { findings },
      },
    });
  });

  it("gives the warnings when there are no errors", () => {
    const ending = refusedCode("CODE_REFUSED", [warning], { ranBefore: true });
    expect(ending.error?.message).toBe("Mind it. This code was not run; an earlier attempt was.");
  });
});

describe("refusedCode for the type check", () => {
  it("gives the errors and the line of the first", () => {
    const findings = [warning, error, other];
    expect(refusedCode("CODE_MISTYPED", findings, { ranBefore: false })).toEqual({
      status: "refused",
      value: null,
      error: {
        code: "CODE_MISTYPED",
        message: "Line 3: It is wrong. So is it. Nothing was run.",
        details: { findings, line: 3 },
      },
    });
    expect(
      refusedCode("CODE_MISTYPED", [other], { ranBefore: false }).error?.details["line"],
    ).toBeUndefined();
  });
});
