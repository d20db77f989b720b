import type { JsonObject } from "@cem/core";
import { describe, expect, it } from "vitest";
import { evaluate, resolve } from "./template.ts";

const SCOPE: JsonObject = {
  variables: { n: 2, f: 2.5, name: "Ada", list: [1, 2, 3], none: null },
  steps: { a: { rows: [{ price: 3 }, { price: 1.5 }] } },
};

describe("resolve", () => {
  it.each([
    ["${{ variables.n + 1 }}", 3],
    ["${{ variables.f * 2 }}", 5],
    ["${{ 7 % 2 + variables.n % 2 }}", 1],
    ["${{ variables.list.map(x, x * 2) }}", [2, 4, 6]],
    ["${{ steps.a.rows.filter(r, r.price > 2)[0] }}", { price: 3 }],
    ["${{ {'a': [1, 'x'], 'b': variables.none} }}", { a: [1, "x"], b: null }],
    ["Hello ${{ variables.name }}, ${{ variables.n }} of ${{ variables.list }}", "Hello Ada, 2 of [1,2,3]"],
    ["${{ '}}' + \"${{\" }}", "}}${{"],
    ["no expression, ${NAME} and $ {{ x }}", "no expression, ${NAME} and $ {{ x }}"],
    ["${{ variables.?missing.orValue('none') }}", "none"],
  ])("fills in %s", (text, expected) => {
    expect(resolve(text, SCOPE)).toEqual(expected);
  });

  it.each([
    ["${{ variables.car.driver }}", "Ada"],
    ["${{ variables.car.?driver.orValue('none') }}", "Ada"],
    ["${{ variables.car.constructor }}", "Lovelace"],
    ["${{ variables.car }}", { constructor: "Lovelace", driver: "Ada", laps: [{ n: 1.5 }] }],
    ["${{ variables.car.laps.map(lap, lap.n) }}", [1.5]],
    ["${{ variables.car.laps == [{'n': 1.5}] }}", true],
    ["${{ size(variables.car) }}", 3],
    ["${{ variables.car.filter(key, key == 'driver') }}", ["driver"]],
    ["${{ steps.constructor + steps.a.rows[0].price }}", 7],
    ["${{ item.constructor.prototype }}", null],
  ])("reads objects that have a key called constructor: %s", (text, expected) => {
    const car = { constructor: "Lovelace", driver: "Ada", laps: [{ n: 1.5 }] };
    const scope = {
      variables: { car },
      steps: { a: { rows: [{ price: 3 }] }, constructor: 4 },
      item: { constructor: { prototype: null } },
    };
    expect(resolve(text, scope)).toEqual(expected);
  });

  it.each([
    "${{ variables.missing }}",
    "${{ variables.constructor }}",
    "${{ variables['__proto__'] }}",
    "${{ variables.name.constructor }}",
    "${{ 9223372036854775807 }}",
    "${{ 1.0 / 0.0 }}",
    "${{ variables.name * 2 }}",
    "${{ b'bytes' }}",
  ])("refuses %s", (text) => {
    expect(() => resolve(text, SCOPE)).toThrow(
      expect.objectContaining({ code: "EXPRESSION_FAILED" }) as Error,
    );
  });

  it("keeps a key that is called __proto__ as a key", () => {
    const given = JSON.parse('{"__proto__": "${{ variables.n }}"}') as JsonObject;
    expect(JSON.stringify(resolve(given, SCOPE))).toBe('{"__proto__":2}');
  });
});

describe("evaluate", () => {
  const many: JsonObject = { s: `${"a".repeat(50)}!`, xs: Array.from({ length: 400 }, () => 1) };

  // Without an end of their own these would take hours.
  it.each([
    "s.matches('^(a+)+$')",
    "xs.all(a, xs.all(b, xs.all(c, xs.all(d, xs.all(e, true)))))",
    "xs.map(a, xs.map(b, xs.map(c, xs.map(d, [a, b, c, d]))))",
  ])("ends %s", (text) => {
    expect(() => evaluate(text, many)).toThrow(/took longer than 250 ms/);
    expect(evaluate("size(xs)", many)).toBe(400);
  });

  it.each([`${"(".repeat(5_000)}1${")".repeat(5_000)}`, "1 + ".repeat(5_000) + "1", "x".repeat(20_000)])(
    "refuses what is too large to read",
    (text) => {
      expect(() => evaluate(text, {})).toThrow(
        expect.objectContaining({ code: "EXPRESSION_INVALID" }) as Error,
      );
    },
  );
});
