import type { JsonValue } from "./json.ts";

/** Copies the beginning of a text. The copy does not keep the rest in memory, as the result of `slice` does. */
export function copyBeginning(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  return new TextDecoder().decode(new TextEncoder().encode(text.slice(0, maxCharacters)));
}

/** Maximum length of the part of a personal value that a cut may leave at the end. */
const MAX_CUT_CHARACTERS = 128;

/** End of a word: characters that separate values in a sentence and in JSON, and letters of scripts that are written without blanks. */
const WORD_END =
  /(?<=[\s"'`,;<>{}[\]|。、，；！？（）「」\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}])/u;

/**
 * Copies the beginning of a text in which personal data has not been replaced. A word that would be cut is left out if
 * it contains more than letters, and so are the numbers before it: no detector would recognize part of a value.
 */
export function copyWholeWords(text: string, maxCharacters: number): string {
  if (text.length <= maxCharacters) return text;
  const end = text.slice(Math.max(0, maxCharacters - MAX_CUT_CHARACTERS), maxCharacters);
  const words = `${end}_`.split(WORD_END);
  const word = words.pop()?.slice(0, -1) ?? "";
  const [rest = ""] = text.slice(maxCharacters, maxCharacters + MAX_CUT_CHARACTERS).split(WORD_END, 1);
  if (/^[\p{L}\p{M}]*[^\p{L}\d]?$/u.test(word + rest)) return copyBeginning(text, maxCharacters);
  let cut = word.length;
  // An IBAN may have a group of letters: `GB82 WEST 1234`.
  const isNumber = (one = ""): boolean => /\d|^[A-Z]{4}\s/.test(one) && /\s$/.test(one);
  while (isNumber(words.at(-1))) cut += words.pop()?.length ?? 0;
  return copyBeginning(text, maxCharacters - cut);
}

/** Like {@link copyWholeWords}, for people to read: it says how much is left out. */
export function showWholeWords(text: string, maxCharacters: number): string {
  const shown = copyWholeWords(text, maxCharacters);
  const left = text.length - shown.length;
  return left === 0 ? text : `${shown}… (${left} more characters are not shown)`;
}

/** Quotes an unusual name, since it may be a sentence that looks like part of the question around it. */
export function showName(name: string): string {
  return /^[\w./-]{1,128}$/u.test(name) ? name : JSON.stringify(name);
}

/** With so many arguments that each would get fewer characters, they are cut as one text. */
const LEAST_OF_ARGUMENT = 30;

/**
 * Formats a call's arguments for a person. Long arguments are cut individually, so that none hides the others.
 *
 * @param print - Formats an object as JSON for people, with one character between a bracket and its content.
 */
export function showArguments(
  args: JsonValue,
  maxCharacters: number,
  print: (value: JsonValue) => string,
): string {
  const shown = print(args);
  if (shown.length <= maxCharacters) return shown;
  const members = Array.isArray(args) ? [] : Object.entries(args as Record<string, JsonValue>);
  const most = Math.floor(maxCharacters / members.length);
  if (members.length === 0 || most < LEAST_OF_ARGUMENT) return showWholeWords(shown, maxCharacters);
  const space = shown.charAt(1);
  const parts = members.map(([name, value]) => showWholeWords(print({ [name]: value }).slice(2, -2), most));
  return `{${space}${parts.join(`,${space}`)}${space}}`;
}

const MAX_TITLE_CHARACTERS = 200;
const COMMENT = /^(?:\/\/[^\n]*|\/\*[^]*?\*\/)/;
const IMPORT = /^import\b(?:[^"';]*from)?\s*["'][^"'\n]*["'](?:\s*with\s*\{[^}]*\})?;?/;

/**
 * Returns a title for a run: the task on one line, or the first line of the code that is neither an import nor a
 * comment.
 *
 * @returns at most 200 characters.
 */
export function runTitle({ kind, input }: { kind: "task" | "code"; input: string }): string {
  const text = input.trim();
  if (kind === "task") return copyBeginning(text.replaceAll(/\s+/g, " "), MAX_TITLE_CHARACTERS);
  let rest = text;
  for (let before = ""; rest !== before; rest = rest.replace(COMMENT, "").replace(IMPORT, "").trimStart())
    before = rest;
  const [line = ""] = (rest === "" ? text : rest).split("\n", 1);
  return copyBeginning(line.trim(), MAX_TITLE_CHARACTERS);
}
