import { describe, expect, it } from "vitest";
import { measureJson } from "./json-depth.ts";

const LIMITS = { depth: 100, marks: 100, names: 5 };

describe("measureJson", () => {
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
    expect(measureJson(Buffer.from(json), LIMITS).depth).toBe(depth);
  });

  it("stops counting beyond the limit", () => {
    const limits = { depth: 10, marks: 100, names: 5 };
    expect(measureJson(Buffer.from("[".repeat(10)), limits)).toMatchObject({ depth: 10, marks: 10 });
    expect(measureJson(Buffer.from("[".repeat(1_000_000)), limits).depth).toBe(11);
    expect(measureJson(Buffer.from(`[${"0,".repeat(1_000_000)}0]`), limits).marks).toBe(101);
  });

  it.each([
    ["1", 0],
    ["[]", 1],
    ["[[],[]]", 4],
    ['{"a,[":[1,2,{}],"b":",,,"}', 6],
  ])("counts commas, arrays and objects of %s", (json, marks) => {
    expect(measureJson(Buffer.from(json), LIMITS).marks).toBe(marks);
  });

  it.each([
    ['{"a":1,"b":{"a":2,"c":":"}}', 4],
    ['{"a":1,"b":{"a":2,"c":":","b":{"a":0,"c":1}}}', 3],
    ['[{"a":1,"b":2},{"a":3,"b":4},{"b":5,"a":6}]', 2],
    ['{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}', 6],
    ['"x"::::::::::::::::::::::::::', 2],
  ])(
    "counts members of %s, and where they are many different names up to the first too many",
    (json, names) => {
      expect(measureJson(Buffer.from(json), LIMITS).names).toBe(names);
    },
  );
});
