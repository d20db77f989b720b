import { describe, expect, it } from "vitest";
import { jsonDepth } from "./json-depth.ts";

describe("jsonDepth", () => {
  it.each([
    ["1", 0],
    ["[]", 1],
    ["{}", 1],
    ["[[],[]]", 2],
    ["[{}]", 2],
    ["[[1],2,[3]]", 2],
    ['{"a":[{"b":[]}]}', 4],
    ['"[[[[{{{{"', 0],
    [String.raw`["\"[[", "\\", [1]]`, 2],
    [String.raw`["\\\"[[", [1]]`, 2],
    [String.raw`["a\\", [[1]]]`, 3],
    ['"never closed [[[', 0],
    ["]]][", 0],
  ])("of %s is %i", (json, depth) => {
    expect(jsonDepth(Buffer.from(json), 100)).toBe(depth);
  });

  it("stops counting beyond the limit", () => {
    expect(jsonDepth(Buffer.from("[".repeat(10)), 10)).toBe(10);
    expect(jsonDepth(Buffer.from("[".repeat(1_000_000)), 10)).toBe(11);
  });
});
