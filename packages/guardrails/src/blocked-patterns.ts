import type { Finding } from "@cem/core";
import { runWithTimeout, SyncTimeoutError } from "@cem/program";

/** How long one pattern may take on one program. */
const PATTERN_TIMEOUT_MS = 1_000;

/** A pattern with the expression that it stands for. */
export interface BlockedPattern {
  /** The pattern as given. */
  written: string;
  expression: RegExp;
}

/**
 * Parses a pattern: `rm\s+-rf` is a regular expression, `eval(` is not a valid one and is matched as text. Case is
 * ignored in both.
 */
export function parsePattern(written: string): BlockedPattern {
  try {
    return { written, expression: new RegExp(written, "iu") };
  } catch {
    return { written, expression: new RegExp(written.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu") };
  }
}

/**
 * Finds the first match of each blocked pattern. A pattern that exceeds its timeout counts as found, since a match
 * can't be ruled out.
 */
export function findBlockedPatterns(code: string, patterns: readonly BlockedPattern[]): Finding[] {
  return patterns.flatMap((pattern): Finding[] => {
    const finding = { rule: "blocked-pattern", severity: "error" } as const;
    const written = JSON.stringify(pattern.written);
    try {
      const match = runWithTimeout(() => pattern.expression.exec(code), PATTERN_TIMEOUT_MS);
      if (match === null) return [];
      const line = code.slice(0, match.index).split("\n").length;
      return [{ ...finding, line, message: `The code matches ${written}, which is blocked here.` }];
    } catch (error) {
      if (!(error instanceof SyncTimeoutError)) throw error;
      const message = `The blocked pattern ${written} took longer than ${PATTERN_TIMEOUT_MS} ms on this code. Write the pattern without nested repetition.`;
      return [{ ...finding, message }];
    }
  });
}
