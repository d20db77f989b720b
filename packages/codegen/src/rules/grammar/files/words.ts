import type { Phrases } from "../../language/pattern.ts";
import type { Step } from "../../planning/step.ts";

/** Verbs that put something into a file. */
export const WRITE = "write|save|store|put|export|dump|record|persist|output|rewrite|re-write|overwrite";
/** Verbs that make a file. */
export const CREATE = `create|make|generate|initialize|initialise|prepare|${WRITE}`;
/** Verbs that only look into a file. */
export const READ = "read|load|open|fetch|parse|retrieve|restore|import|get|re-read|reread";
/** Verbs that print. */
export const PRINT = "print|log|output|display|echo";
/** Verbs that give a result back. */
export const GIVE = "show|report|tell|return|give|present|state";
/** Words between a content and its file. */
export const INTO = "to|in|into|as|at|onto";
/** Words before the content of a file that was named. */
export const SAYS =
  "((with|containing|saying|having) | ((that|which) (contains|says|has)) | :) ((this|following)? (content|contents|text|line|message))? (of)? :?";
/** Words for a JSON file that say nothing of what is in it. */
export const STATE =
  "state|workflow|data|json|object|config|configuration|settings|document|record|information|info|progress|session";
/** Words before them that change nothing. */
export const WHOLE =
  "current|whole|entire|full|complete|completed|updated|new|final|its|saved|changed|modified";

const ENDINGS: Phrases = {
  json: "json",
  text: "txt",
  txt: "txt",
  csv: "csv",
  markdown: "md",
  md: "md",
  log: "log",
  html: "html",
  xml: "xml",
  yaml: "yaml",
};
const CASES: Phrases = {
  "upper case": "toUpperCase",
  uppercase: "toUpperCase",
  "upper-case": "toUpperCase",
  "capital letters": "toUpperCase",
  capitals: "toUpperCase",
  caps: "toUpperCase",
  "lower case": "toLowerCase",
  lowercase: "toLowerCase",
  "lower-case": "toLowerCase",
  "small letters": "toLowerCase",
};
const CASED: Phrases = {
  ...CASES,
  uppercased: "toUpperCase",
  "upper-cased": "toUpperCase",
  lowercased: "toLowerCase",
  "lower-cased": "toLowerCase",
};
const UNITS: Phrases = {
  words: "words",
  lines: "lines",
  characters: "characters",
  letters: "letters",
};
const JOINTS: Phrases = Object.fromEntries(
  [
    ": = to is as of be at equals called",
    "set to|equal to|to be|with value|with the value|with a value of|with value of|with the value of",
  ].flatMap((list, at) => list.split(at === 0 ? " " : "|").map((phrase) => [phrase, "joint"])),
);

/** The vocabulary of patterns about files. */
export const FILE_WORDS = { ending: ENDINGS, case: CASES, cased: CASED, unit: UNITS, joint: JOINTS };

/** Whether nothing is listed below a step that a reading would leave out. */
export function isBare({ fields, items }: Step): boolean {
  return fields.length === 0 && items.length === 0;
}
