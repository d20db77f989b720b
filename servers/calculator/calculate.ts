import { evaluate } from "./evaluate.ts";
import { parseExpression } from "./expression.ts";
import { toResult } from "./numbers.ts";

/** The expression to calculate. */
export interface CalculateInput {
  /**
   * An arithmetic expression: `5 + 3`, `(2 + 3) * 4 ^ 2`, `sqrt(16) + pi`, `15% of 200`. Operators + - * / % ^ **
   * and parentheses; functions sqrt, cbrt, abs, round, floor, ceil, trunc, sign, min, max, pow, exp, ln, log (natural, or
   * with a base as second argument), log2, log10, sin, cos, tan, asin, acos, atan (radians); constants pi, e, tau.
   */
  expression: string;
}

/**
 * Calculate an arithmetic expression and return its value.
 *
 * @returns The value of the expression.
 * @readOnly
 * @idempotent
 */
export async function calculate(input: CalculateInput): Promise<number> {
  const expression: unknown = (input as CalculateInput | undefined)?.expression;
  if (typeof expression !== "string") {
    throw new TypeError('calculate needs a string as "expression". Call calculate({ expression: "5 + 3" }).');
  }
  try {
    return toResult(evaluate(parseExpression(expression)), `"${expression.trim()}"`);
  } catch (error) {
    if (!(error instanceof RangeError) || !/call stack/i.test(error.message)) throw error;
    throw new RangeError("The expression is nested too deeply. Split it into parts.", { cause: error });
  }
}
