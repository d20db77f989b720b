import { stem } from "@cem/core/text";

/** Values that indicate which tools are meant, and words of these. In this order; each removes its match. Repetitions are bounded. */
const PATTERNS: readonly (readonly [words: string, pattern: RegExp])[] = [
  ["sql query database", /\bselect\s(?:(?!\bselect\s)[^"'`]){1,200}?\sfrom\s+[\w."]{1,80}/giu],
  ["url web page http website", /\bhttps?:\/\/[^\s"'`<>]{1,2000}/giu],
  ["email mail recipient", /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/gu],
  ["", /"[^"\n]{0,2000}"|`[^`\n]{0,2000}`|“[^“”\n]{0,2000}”|(?<!\w)'[^'\n]{0,2000}'(?!\w)/gu],
  [
    "file path",
    /(?<![\w/.])(?:[./~]?[\w.-]{0,80})(?:\/[\w.-]{1,80}){0,20}(?<=[\w-])\.(?:json|txt|md|csv|ya?ml|xml|html?|log|pdf|docx?|xlsx?|png|jpe?g|ts|js|py)\b/giu,
  ],
  ["file path directory folder", /(?<![\w/.])(?:[./~]?\/?[\w.-]{0,80})(?:\/[\w.-]{1,80}){1,20}\/?/giu],
  [
    "arithmetic expression calculate math",
    /(?<![\w.])\(?\s?-?\d[\d.,]{0,30}\)?\s{0,3}(?:[+*×÷^%-]|\/|\*\*|\bx\b|plus|minus|times|(?:divided|multiplied) by)\s{0,3}\(?-?\d[\d.,]{0,30}/giu,
  ],
  [
    "arithmetic expression calculate math",
    /\d[\d.]{0,30}\s?(?:%|percent) of\s{1,3}\d[\d.,]{0,30}|\b(?:sqrt|cbrt|sin|cos|tan|log|ln|exp|abs)\s?\([^()]{0,100}\)|\b(?:product|sum|difference|quotient|ratio) (?:of|between)\s{1,3}-?\d[\d.,]{0,30}|\b(?:square|cube) root of\s{1,3}\d[\d.,]{0,30}|\d[\d.]{0,30}\s?(?:squared|cubed|to the power of|modulo)\b|\b(?:half|a third|a quarter|twice) (?:of\s)?\s{0,3}\d[\d.,]{0,30}|\bround\s{1,3}-?\d[\d.,]{0,30}/giu,
  ],
  [
    "forecast predict upcoming",
    /\b(?:tomorrow|tonight|(?:this|next) weekend|(?:(?:next|coming|following)\s{1,3})(?:(?:\d{1,3}|few|two|three|four|five|six|seven|ten)\s{1,3})?(?:days?|weeks?|weekend)|(?:in|for) (?:\d{1,3}|a few|two|three|four|five|six|seven|ten) days)\b/giu,
  ],
  ["", /(?<![\p{L}\p{N}_])[-+]?\d[\d.,:]{0,30}(?![\p{L}_])/gu],
];

/** Finds the hints in a text and removes the values from it. Each hint is a set of stems of which one must match. */
export function readHints(text: string) {
  const found = new Set<string>();
  let rest = text;
  for (const [words, pattern] of PATTERNS) {
    rest = rest.replace(pattern, () => {
      if (words !== "") found.add(words);
      return " ";
    });
  }
  return { hints: [...found].map((words) => words.split(" ").map(stem)), rest };
}

/** A path with an extension, or the name of a file. Every repetition is bounded. */
const FILE =
  /(?:~|\.{0,2})\/[\w.\-/]{0,200}\.([a-z]{2,5})\b|\b[\w-]{1,80}\.(md|txt|csv|json|html?|docx?|xlsx?|pptx?|pdf|png|jpe?g|py|ts|js|bib|log|ya?ml|xml)\b/giu;
const MAX_FILES = 16;
/** Verbs that mean a file is created, when they precede its path. */
const MAKES =
  /\b(?:save|saved|saving|store|stored|write|written|create|generate|generated|make|export|output|produce|report|draft|put|place|placed)\b/iu;
const CHARACTERS_BEFORE = 200;
const KINDS: Readonly<Record<string, string>> = {
  doc: "word document",
  docx: "word document",
  xls: "excel spreadsheet",
  xlsx: "excel spreadsheet",
  ppt: "powerpoint presentation",
  pptx: "powerpoint presentation",
  pdf: "pdf document",
  png: "image",
  jpg: "image",
  jpeg: "image",
};

const RELATIVE_TIME =
  /\b(?:today|tonight|tomorrow|yesterday|right now|(?:this|next|last|past|coming) (?:week|weekend|month|quarter|year|monday|tuesday|wednesday|thursday|friday|saturday|sunday|\d{1,3} (?:days|weeks|months)))\b/iu;
const TIME_WEIGHT = 0.5;

/** The implied steps, phrased like tools: `read file` for a path, the time for `tomorrow`. With their likelihood, 0 to 1. */
export function impliedSteps(text: string) {
  const steps = new Map<string, number>();
  for (const match of [...text.matchAll(FILE)].slice(0, MAX_FILES)) {
    const kind = KINDS[(match[1] ?? match[2] ?? "").toLowerCase()];
    const before = text.slice(Math.max(0, match.index - CHARACTERS_BEFORE), match.index);
    const made = kind === undefined ? "write file" : `create ${kind}`;
    steps.set(MAKES.test(before) ? made : `read ${kind ?? "file"}`, 1);
  }
  if (RELATIVE_TIME.test(text)) steps.set("get current time", TIME_WEIGHT);
  return [...steps].map(([step, weight]) => ({ text: step, weight }));
}
