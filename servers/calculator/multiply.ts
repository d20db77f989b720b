import { requireNumbers, toResult } from "./numbers.ts";

/** The numbers to multiply. */
export interface MultiplyInput {
  /** The first factor. */
  a: number;
  /** The second factor. */
  b: number;
}

/**
 * Multiply two numbers.
 *
 * @returns The product a * b.
 * @readOnly
 * @idempotent
 */
export async function multiply(input: MultiplyInput): Promise<number> {
  const { a, b } = requireNumbers("multiply", input);
  return toResult(a * b, `${a} * ${b}`);
}
