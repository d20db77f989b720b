import type { Finding } from "@cem/core";
import { locationOf, runWithTimeout, SyncTimeoutError } from "@cem/program";
import type { KnownText } from "./values.ts";

/** Timeout of all patterns together on one program. Linear ones take a few milliseconds. */
const PATTERNS_TIMEOUT_MS = 500;

/** Parses a pattern: `rm\s+-rf` is a regular expression, `eval(` is none and is matched as text. Case is ignored in both. */
export function parsePattern(written: string) {
  try {
    return { written, expression: new RegExp(written, "iu") };
  } catch {
    return { written, expression: new RegExp(written.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "iu") };
  }
}

/**
 * Finds the first match of each blocked pattern. All share one timeout. A pattern that exceeds the remaining time counts as
 * found, since a match can't be ruled out.
 *
 * @param known - The evaluated texts of the program. Literal ones need not be checked again.
 */
export function findBlockedPatterns(
  code: string,
  patterns: readonly ReturnType<typeof parsePattern>[],
  known: Iterable<KnownText> = [],
): Finding[] {
  if (patterns.length === 0) return [];
  const plain = withoutEscapes(code);
  const texts = new Map<string, number | undefined>([code, plain].map((text) => [text, undefined]));
  for (const { node, text } of known) {
    const isAsWritten = code.slice((node.start ?? 0) + 1, (node.end ?? 0) - 1) === text;
    if (!isAsWritten && !texts.has(text)) texts.set(text, locationOf(node).line);
  }
  const end = performance.now() + PATTERNS_TIMEOUT_MS;
  return patterns.flatMap((pattern): Finding[] => {
    const finding = { rule: "blocked-pattern", severity: "error" } as const;
    const written = JSON.stringify(pattern.written);
    try {
      const left = Math.max(1, Math.ceil(end - performance.now()));
      const line = runWithTimeout(() => firstMatch(pattern.expression, texts), left);
      if (line === undefined) return [];
      return [{ ...finding, line, message: `The code matches ${written}, which is blocked here.` }];
    } catch (error) {
      if (!(error instanceof SyncTimeoutError)) throw error;
      const message = `The blocked patterns took longer than ${PATTERNS_TIMEOUT_MS} ms on this code, up to ${written}. Write it without nested repetition.`;
      return [{ ...finding, message }];
    }
  });
}

/** The line of the first match in texts, each with its line; without one, lines are counted in the text. */
function firstMatch(expression: RegExp, texts: ReadonlyMap<string, number | undefined>): number | undefined {
  for (const [text, line] of texts) {
    const match = expression.exec(text);
    if (match !== null) return line ?? text.slice(0, match.index).split("\n").length;
  }
  return undefined;
}

/** Decodes JavaScript escape sequences in the code, keeping line numbers. */
function withoutEscapes(code: string): string {
  if (!code.includes("\\")) return code;
  return code.replaceAll(
    /\\u\{([0-9a-f]{1,6})\}|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})/giu,
    (written, ...groups: (string | undefined)[]) => {
      const point = Number.parseInt(groups[0] ?? groups[1] ?? groups[2] ?? "", 16);
      const isShown = point > 0x1f && point <= 0x10_ff_ff;
      return isShown ? String.fromCodePoint(point) : written;
    },
  );
}
