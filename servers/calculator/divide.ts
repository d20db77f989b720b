import { requireNumbers, toResult } from "./numbers.ts";

/** The numbers to divide. */
export interface DivideInput {
  /** The dividend: the number to divide. */
  a: number;
  /** The divisor: the number to divide by. Not 0. */
  b: number;
}

/**
 * Divide one number by another.
 *
 * @returns The quotient a / b.
 * @readOnly
 * @idempotent
 */
export async function divide(input: DivideInput): Promise<number> {
  const { a, b } = requireNumbers("divide", input);
  if (b === 0) throw new RangeError(`Can't divide ${a} by zero.`);
  return toResult(a / b, `${a} / ${b}`);
}
