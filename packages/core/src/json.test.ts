import { describe, expect, it } from "vitest";
import { withoutPrototypeKeys } from "./json.ts";
import type { JsonValue } from "./json.ts";

const parse = (text: string): JsonValue => JSON.parse(text) as JsonValue;

describe("withoutPrototypeKeys", () => {
  it.each([
    ['{"a":1,"__proto__":{"admin":true}}', '{"a":1}'],
    ['{"a":[{"__proto__":1,"b":null}]}', '{"a":[{"b":null}]}'],
    ['{"constructor":{"prototype":{"x":1}}}', "{}"],
    ['{"constructor":{"name":"x"}}', '{"constructor":{"name":"x"}}'],
    ['{"constructor":"x","prototype":{"prototype":1}}', '{"constructor":"x","prototype":{"prototype":1}}'],
    ['{"constructor":null}', '{"constructor":null}'],
    ['"text"', '"text"'],
    ["null", "null"],
  ])("makes %s %s", (given, expected) => {
    expect(JSON.stringify(withoutPrototypeKeys(parse(given)))).toBe(expected);
  });

  it("copies", () => {
    const value = { a: [1] };
    const copy = withoutPrototypeKeys(value) as typeof value;
    expect(copy).toEqual(value);
    expect([copy === value, copy.a === value.a]).toEqual([false, false]);
  });
});
