import { requireNumbers, toResult } from "./numbers.ts";

/** The numbers to subtract. */
export interface SubtractInput {
  /** The number to subtract from. */
  a: number;
  /** The number to subtract. */
  b: number;
}

/**
 * Subtract one number from another.
 *
 * @returns The difference a - b.
 * @readOnly
 * @idempotent
 */
export async function subtract(input: SubtractInput): Promise<number> {
  const { a, b } = requireNumbers("subtract", input);
  return toResult(a - b, `${a} - ${b}`);
}
