import type { Detector, Finding, PiiType } from "../types.ts";

/** A custom type of value to find: by pattern, by list, or by a function. */
export type CustomDetector = { type: PiiType } & (
  | {
      /** Should be linear: it is tried on every text. */
      pattern: RegExp;
    }
  | {
      /** Values to find wherever they stand as whole words, whatever their case. */
      values: readonly string[];
    }
  | { find: (text: string, key?: string) => readonly { start: number; end: number }[] }
);

/** Turns what a user declares into a detector. */
export function createCustomDetector(custom: CustomDetector): Detector {
  const { type } = custom;
  if ("find" in custom) {
    return { find: (text, key) => custom.find(text, key).map(({ start, end }) => ({ start, end, type })) };
  }
  const pattern =
    "pattern" in custom
      ? new RegExp(custom.pattern.source, [...new Set(`${custom.pattern.flags.replace("y", "")}g`)].join(""))
      : patternOf(custom.values);
  return {
    find: (text) =>
      [...text.matchAll(pattern)].flatMap(({ 0: match, index }): Finding[] =>
        match === "" ? [] : [{ start: index, end: index + match.length, type }],
      ),
  };
}

function patternOf(values: readonly string[]): RegExp {
  const longestFirst = values.filter((value) => value !== "").toSorted((a, b) => b.length - a.length);
  if (longestFirst.length === 0) return /(?!)/g;
  const words = longestFirst.map((value) =>
    value.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&").replace(/\s+/g, "\\s+"),
  );
  return new RegExp(`(?<![\\p{L}\\p{N}])(?:${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}
