import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readableNumber } from "./printing.ts";

const shown = (value: number): string => String(readableNumber(value));

/** A decimal number of a few digits, as people write them: 41.65. */
const decimal = fc
  .tuple(fc.integer({ min: 1, max: 99_999_999 }), fc.integer({ min: 0, max: 4 }))
  .map(([digits, places]) => ({ digits, places, value: Number(`${digits}e-${places}`) }));

describe("readableNumber", () => {
  it.each([
    [0.1 + 0.2, "0.3"],
    [3 * 41.65, "124.95"],
    [41.65 + 41.65 + 41.65, "124.95"],
    [1.1 * 1.1, "1.21"],
    [0.1 * 3 - 1, "-0.7"],
    [4.35 * 100, "435"],
    [(0.1 + 0.7) * 10, "8"],
    [3e-7 + 1e-22, "3e-7"],
  ])("leaves out the noise of %d", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  it.each([
    1 / 3,
    2 / 3,
    10 / 3,
    Math.PI,
    123_456_789.123_456_7,
    2 ** 53 + 2,
    Number(12_345_678_901_234_567_890n),
    1e21,
    1e22 + 2e6,
    5e-324,
    Number.MAX_VALUE,
    Infinity,
    -Infinity,
    NaN,
    0,
    -0,
  ])("leaves %d as it is", (value) => {
    expect(Object.is(readableNumber(value), value)).toBe(true);
  });

  it("changes a number by less than its fifteenth digit, and only once", () => {
    fc.assert(
      fc.property(fc.double(), (value) => {
        const readable = readableNumber(value);
        expect(Object.is(readableNumber(readable), readable)).toBe(true);
        if (Object.is(readable, value)) return;
        expect(Math.abs(readable - value)).toBeLessThanOrEqual(Math.abs(value) * 5e-15);
        expect(String(readable).length).toBeLessThanOrEqual(String(value).length - 3);
      }),
    );
  });

  it("leaves every number of up to 15 digits as it is written", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 15n - 1n }),
        fc.integer({ min: -20, max: 20 }),
        (digits, places) => {
          const value = Number(`${digits}e${places}`);
          expect(readableNumber(value)).toBe(value);
        },
      ),
    );
  });

  it("shows a sum and a product of two decimal numbers as reckoned by hand", () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        const unit = 10 ** -Math.max(a.places, b.places);
        const places = Math.round(-Math.log10(unit));
        const whole =
          BigInt(a.digits) * 10n ** BigInt(places - a.places) +
          BigInt(b.digits) * 10n ** BigInt(places - b.places);
        expect(readableNumber(a.value + b.value)).toBe(Number(`${whole}e-${places}`));
        const product = BigInt(a.digits) * BigInt(b.digits);
        fc.pre(product < 10n ** 13n);
        expect(readableNumber(a.value * b.value)).toBe(Number(`${product}e-${a.places + b.places}`));
      }),
    );
  });
});
