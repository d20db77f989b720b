import { describe, expect, it } from "vitest";
import { canonicalJson, compactJson, isSameJson } from "./canonical-json.ts";

describe("canonicalJson", () => {
  it("is the same for the same data in another order", () => {
    const a = { b: [1, { d: null, c: "x" }], a: true };
    const b = { a: true, b: [1, { c: "x", d: null }] };
    expect(canonicalJson(a)).toBe('{"a":true,"b":[1,{"c":"x","d":null}]}');
    expect(canonicalJson(b)).toBe(canonicalJson(a));
  });

  it("sorts keys by code units, those that are numbers too", () => {
    expect(canonicalJson({ 9: 1, 10: 2, "-": 3, b: 4 })).toBe('{"-":3,"10":2,"9":1,"b":4}');
  });

  it("keeps __proto__ as a key", () => {
    expect(canonicalJson(JSON.parse('{"__proto__":1}'))).toBe('{"__proto__":1}');
  });
});

describe("isSameJson", () => {
  it.each([
    ["another order of keys", { a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 }, true],
    ["a key without a value", { a: 1, b: undefined }, { a: 1 }, true],
    ["another order of a list", { a: [1, 2] }, { a: [2, 1] }, false],
    ["another value", { a: 1 }, { a: "1" }, false],
  ])("of %s", (_, left, right, same) => {
    expect(isSameJson(left, right)).toBe(same);
  });
});

describe("compactJson", () => {
  it("keeps the order and reads back as what it was", () => {
    const value = { z: [], a: {}, text: 'a"\u2028', nested: [[1.5, -0, 1e30], { k: undefined }] };
    expect(compactJson(value)).toBe(JSON.stringify(value));
  });

  it("gives up on what is too large, a cycle included", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    expect(compactJson(cycle, 1_000)).toBeUndefined();
    expect(compactJson("x".repeat(100), 50)).toBeUndefined();
  });
});
