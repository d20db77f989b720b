import type { Detector, Finding, PiiType } from "../types.ts";

/** A text to look at, and the name under which it stands in an object. */
export interface DetectedText {
  text: string;
  key?: string | undefined;
}

/** A detector that is asked for many texts at once, since each request costs. */
export interface BatchDetector {
  type: PiiType;
  /** @returns the places in each text, in the order of the texts. */
  findAll: (texts: readonly DetectedText[]) => readonly (readonly { start: number; end: number }[])[];
}

type Places = readonly { start: number; end: number }[];

/** Short texts come again and again: names of stages, states, cities. */
const MAX_KEPT = 4_000;
const MAX_KEPT_CHARACTERS = 200;

/** Turns what a user declares into a detector that remembers what it was prepared for, and short texts for longer. */
function createBatchDetector({ type, findAll }: BatchDetector): Detector {
  let kept = new Map<string, Places>();
  let prepared = new Map<string, Places>();
  const look = (texts: readonly DetectedText[]): void => {
    prepared = new Map();
    const unknown = texts.filter(({ text, key }) => !kept.has(nameOf(text, key)));
    if (unknown.length === 0) return;
    if (kept.size > MAX_KEPT) kept = new Map();
    for (const [index, places] of findAll(unknown).entries()) {
      const { text = "", key } = unknown[index] ?? {};
      const isKept = text.length <= MAX_KEPT_CHARACTERS && kept.size <= MAX_KEPT;
      (isKept ? kept : prepared).set(nameOf(text, key), places);
    }
  };
  const known = (name: string): Places | undefined => prepared.get(name) ?? kept.get(name);
  return {
    prepare: look,
    find(text, key) {
      const name = nameOf(text, key);
      if (known(name) === undefined) look([{ text, key }]);
      return (known(name) ?? []).map(({ start, end }) => ({ start, end, type }));
    },
  };
}

function nameOf(text: string, key = ""): string {
  return `${key}\n${text}`;
}

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
  | Pick<BatchDetector, "findAll">
);

/** Turns what a user declares into a detector. */
export function createCustomDetector(custom: CustomDetector): Detector {
  const { type } = custom;
  if ("findAll" in custom) return createBatchDetector({ type, findAll: custom.findAll });
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
