import { createColors } from "picocolors";
import { describe, expect, it } from "vitest";
import { renderPairs, renderRow } from "./render/rows.ts";

const style = (width: number) => ({ colors: createColors(false), width });

describe("renderRow", () => {
  it("wraps the text beside its label, with the right text at the edge", () => {
    expect(renderRow("run", "2 tool calls, in a sandbox", style(40), { right: "9 ms" })).toEqual([
      "  run        2 tool calls, in a     9 ms",
      "             sandbox",
    ]);
  });
});

describe("renderPairs", () => {
  const pairs = [
    ["calculator.calculate", "matches the words of the task"],
    ["a", ""],
  ] as const;

  it("aligns the second column and wraps it", () => {
    expect(renderPairs(pairs, "  ", style(44))).toEqual([
      "  calculator.calculate  matches the words of",
      "                        the task",
      "  a",
    ]);
  });

  it("goes below the first column where there is no room beside it", () => {
    expect(renderPairs(pairs, "  ", style(40))).toEqual([
      "  calculator.calculate",
      "    matches the words of the task",
      "  a",
    ]);
  });
});
