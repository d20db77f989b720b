import { requireNumbers, toResult } from "./numbers.ts";

/** The numbers to add. */
export interface AddInput {
  /** The first number. */
  a: number;
  /** The number to add to it. */
  b: number;
}

/**
 * Add two numbers.
 *
 * @returns The sum a + b.
 * @readOnly
 * @idempotent
 */
export async function add(input: AddInput): Promise<number> {
  const { a, b } = requireNumbers("add", input);
  return toResult(a + b, `${a} + ${b}`);
}
