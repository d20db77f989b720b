import { RE2JS, RE2JSException } from "re2js";

/** A compiled pattern, which takes time in proportion to the text. */
export interface LinearPattern {
  /** Whether the whole text matches. */
  matches(text: string): boolean;
}

/** Longer texts match no pattern. */
export const MAX_MATCHED_CHARACTERS = 10_000;

/**
 * Compiles a pattern with RE2, which has no way to take more than linear time. Lookarounds and references to groups are
 * therefore not possible.
 *
 * @returns the pattern, or why it can't be used: a clause.
 */
export function compilePattern(source: string): LinearPattern | { fault: string } {
  try {
    const compiled = RE2JS.compile(RE2JS.translateRegExp(source));
    return { matches: (text) => text.length <= MAX_MATCHED_CHARACTERS && compiled.matches(text) };
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    return {
      fault:
        "is not a pattern of RE2, which has no lookaround, no reference to a group, and at most 1,000 repetitions",
    };
  }
}
