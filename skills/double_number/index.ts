/**
 * Double a number.
 *
 * @param x The number to double.
 * @returns Twice the number.
 */
export function double_number(x: number): number {
  if (typeof x !== "number" || !Number.isFinite(x)) {
    throw new TypeError(`double_number needs a finite number, got ${String(x)}. Call double_number(15).`);
  }
  return x * 2;
}
