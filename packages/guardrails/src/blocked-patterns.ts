import type { Finding } from "@cem/core";
import { runBounded, TimeBoundReached } from "@cem/program";

/** A pattern that backtracks on hostile code is given up after this long. */
const PATTERN_TIMEOUT_MS = 1_000;

/** A pattern as configured: a regular expression, or plain text where it isn't a valid one. */
export interface BlockedPattern {
  written: string;
  expression: RegExp;
}

/** Reads a pattern the way people write them: `rm\s+-rf` is an expression, `eval(` is text. */
export function readPattern(written: string): BlockedPattern {
  try {
    return { written, expression: new RegExp(written, "iu") };
  } catch {
    return { written, expression: new RegExp(written.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu") };
  }
}

/** Where the code holds a blocked pattern. A pattern that takes too long counts as found: it can't be ruled out. */
export function findBlockedPatterns(code: string, patterns: readonly BlockedPattern[]): Finding[] {
  return patterns.flatMap((pattern): Finding[] => {
    const finding = { rule: "blocked-pattern", severity: "error" } as const;
    try {
      const found = runBounded(() => pattern.expression.exec(code), PATTERN_TIMEOUT_MS);
      if (found === null) return [];
      const line = code.slice(0, found.index).split("\n").length;
      return [
        {
          ...finding,
          line,
          message: `The code holds ${JSON.stringify(pattern.written)}, which is blocked here.`,
        },
      ];
    } catch (error) {
      if (!(error instanceof TimeBoundReached)) throw error;
      return [
        {
          ...finding,
          message: `The blocked pattern ${JSON.stringify(pattern.written)} took longer than ${PATTERN_TIMEOUT_MS} ms on this code. Write the pattern without nested repetition.`,
        },
      ];
    }
  });
}
