import type { JsonValue } from "@cem/core";
import { findQuotes } from "@cem/core/text";

/** `braces`: bracketed text that is not JSON. `tag`: `#general` or `@ada`. `mark`: punctuation. `sign`: any other non-letter. */
export type TokenKind = (typeof SINGLE)[number][0] | "quote" | "json" | "braces" | "mark";

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** The text for comparisons: in lower case, apostrophes straight. */
  readonly lower: string;
  /** The value of a number, a quoted text or JSON. */
  readonly value?: JsonValue | undefined;
  /** Its range in the step, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

const SMALL = new Set(
  "the a an please just simply kindly also me us my our your now right currently".split(" "),
);

export function textOf({ kind, text, value }: Token): string {
  return kind === "quote" && typeof value === "string" ? value : text;
}

export function isSmall(token: Token | undefined): boolean {
  return token?.kind === "word" && SMALL.has(token.lower);
}

const URL = /[a-z][a-z0-9+.-]{1,15}:\/\/[^\s,;"'<>]*[^\s,;"'<>.!?)]/iuy;
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/uy;
const TAG = /[#@][\p{L}\p{N}][\p{L}\p{N}_.-]{0,79}/uy;
const DATE = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\d-])/uy;
/** A path with a folder, or a file with an extension. */
const PATH =
  /(?:(?:\.{1,2}|~)?\/[\p{L}\p{N}_.@+-]+(?:\/[\p{L}\p{N}_.@+-]+)*\/?|(?<=^|\s)\.{1,2}(?=\s|$)|[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_.-]+)+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.[A-Za-z][A-Za-z0-9]{0,4})(?![\p{L}\p{N}@])/uy;
const NUMBER = /[$€£]?(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)(?![\p{L}\d_])/uy;
const WORD =
  /[\p{L}_][\p{L}\p{N}\p{M}_]*(?:[-'’][\p{L}\p{N}][\p{L}\p{N}\p{M}_]*)*|\p{N}[\p{L}\p{N}\p{M}_]*(?:[-'’][\p{L}\p{N}]+)*/uy;
const SIGNS = /<=|>=|!==?|===?|<>|\*\*|&&|\|\||->/uy;
const SINGLE = [
  ["url", URL],
  ["email", EMAIL],
  ["tag", TAG],
  ["date", DATE],
  ["path", PATH],
  ["number", NUMBER],
  ["word", WORD],
  ["sign", SIGNS],
] as const;
const MARKS = new Set([",", ";", ":", "?", "!", "."]);
const SIGN_OF: Readonly<Record<string, string>> = {
  "×": "*",
  "·": "*",
  "∗": "*",
  "÷": "/",
  "−": "-",
  "–": "-",
  "≥": ">=",
  "≤": "<=",
  "≠": "!=",
};
/** Numbers in words, from zero. `one` is left out, since it is mostly a pronoun: `the warmest one`. */
const NUMBERS = "zero . two three four five six seven eight nine ten eleven twelve".split(" ");
/** `it's` means `it is`; other `'s` are possessive. */
const IS = /^(?:it|that|there|what|who|where|how|when|he|she|here)$/u;

export function readTokens(source: string): Token[] {
  const tokens: Token[] = [];
  const ends = blockEnds(source);
  let at = 0;
  while (at < source.length) {
    if (/\s/u.test(source.charAt(at))) {
      at += 1;
      continue;
    }
    const block = ends.get(at);
    const token = block === undefined ? readSingle(source, at) : readBlock(source, at, block);
    pushToken(tokens, token);
    at = token.end;
  }
  while (tokens.at(-1)?.kind === "mark") tokens.pop();
  return tokens;
}

/** The ends of quoted texts and balanced braces and brackets, by their start; nested ones are left out. */
function blockEnds(source: string): Map<number, number> {
  const quotes = new Map(findQuotes(source).map(({ start, end }) => [start, end]));
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (let at = 0; at < source.length; at += 1) {
    const end = quotes.get(at);
    const mark = source.charAt(at);
    if (end !== undefined) {
      ends.set(at, end);
      at = end - 1;
    } else if (mark === "{" || mark === "[") {
      open.push(at);
    } else if (mark === "}" || mark === "]") {
      const start = open.at(-1);
      if (start === undefined || source.charAt(start) !== (mark === "}" ? "{" : "[")) continue;
      open.pop();
      ends.set(start, at + 1);
    }
  }
  return ends;
}

function readBlock(source: string, start: number, end: number): Token {
  const text = source.slice(start, end);
  if (!/^[{[]/u.test(text)) return { kind: "quote", text, lower: text, value: text.slice(1, -1), start, end };
  try {
    return { kind: "json", text, lower: text, value: JSON.parse(text), start, end };
  } catch {
    return { kind: "braces", text, lower: text, start, end };
  }
}

function readSingle(source: string, start: number): Token {
  for (const [kind, pattern] of SINGLE) {
    pattern.lastIndex = start;
    const found = pattern.exec(source)?.[0];
    if (found === undefined) continue;
    // A full stop after a path ends the sentence.
    const text = kind === "path" && found.length > 2 ? found.replace(/(?<!\.)\.+$/u, "") : found;
    const end = start + text.length;
    const lower = text.toLowerCase().replaceAll("’", "'");
    if (kind === "number") {
      const number = Number(text.replaceAll(/[,$€£]/gu, ""));
      return { kind, text, lower, value: Number.isFinite(number) ? number : undefined, start, end };
    }
    const said = kind === "word" ? NUMBERS.indexOf(lower) : -1;
    if (said >= 0)
      return { kind: "number", text: String(said), lower: String(said), value: said, start, end };
    return { kind, text, lower, start, end };
  }
  const text = String.fromCodePoint(source.codePointAt(start) ?? 0);
  const kind = MARKS.has(text) ? "mark" : "sign";
  return { kind, text, lower: SIGN_OF[text] ?? text, start, end: start + text.length };
}

function pushToken(tokens: Token[], token: Token): void {
  const [, stem] = token.kind === "word" ? (/^(.+)'s$/u.exec(token.lower) ?? []) : [];
  if (stem === undefined) {
    tokens.push(token);
    return;
  }
  const cut = token.end - 2;
  tokens.push({ ...token, text: token.text.slice(0, -2), lower: stem, end: cut });
  tokens.push({
    kind: "word",
    text: token.text.slice(-2),
    lower: IS.test(stem) ? "is" : "'s",
    start: cut,
    end: token.end,
  });
}
