import { findQuotes } from "@cem/text";
import { readDigits, readSpelledNumber, scaleOf } from "./numbers.ts";
import { Span, type Token, type TokenKind } from "./token.ts";

const URL = /[a-z][a-z0-9+.-]{1,15}:\/\/[^\s,;"'<>]*[^\s,;"'<>.!?)]/iuy;
const EMAIL = /[\p{L}\p{N}._%+-]{1,64}@[\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+/uy;
const TAG = /[#@][\p{L}\p{N}][\p{L}\p{N}_.-]{0,79}/uy;
const DATE = /\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?(?![\d-])/uy;
/** A path with a folder, or a file with an ending. */
const PATH =
  /(?:(?:\.{1,2}|~)?\/[\p{L}\p{N}_.@+-]+(?:\/[\p{L}\p{N}_.@+-]+)*\/?|(?<=^|\s)\.{1,2}(?=\s|$)|[\p{L}\p{N}_-]+(?:\/[\p{L}\p{N}_.-]+)+|[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.[A-Za-z][A-Za-z0-9]{0,4})(?![\p{L}\p{N}@])/uy;
const NUMBER = /[$€£]?(?:\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|\.\d+)(?![\p{L}\d_])/uy;
const WORD =
  /[\p{L}_][\p{L}\p{N}\p{M}_]*(?:[-'’][\p{L}\p{N}][\p{L}\p{N}\p{M}_]*)*|\p{N}[\p{L}\p{N}\p{M}_]*(?:[-'’][\p{L}\p{N}]+)*/uy;
const SIGNS = /<=|>=|!==?|===?|<>|\*\*|&&|\|\||->/uy;
const SINGLE: readonly [TokenKind, RegExp][] = [
  ["url", URL],
  ["email", EMAIL],
  ["tag", TAG],
  ["date", DATE],
  ["path", PATH],
  ["number", NUMBER],
  ["word", WORD],
  ["sign", SIGNS],
];
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
/** `it's` is `it is`; any other `'s` belongs to somebody. */
const IS = /^(?:it|that|there|what|who|where|how|when|he|she|here)$/u;

/** Reads the tokens of a step. Runs in linear time for any text. */
export function readTokens(source: string): Span {
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
  return withoutEnd(new Span(source, joinNumbers(tokens)));
}

/** Where quoted texts and balanced braces and brackets end, by where they begin; nothing inside another. */
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
    // A full stop behind a path ends the sentence.
    const text = kind === "path" && found.length > 2 ? found.replace(/(?<!\.)\.+$/u, "") : found;
    const value = kind === "number" ? readDigits(text.replace(/^[$€£]/u, "")) : undefined;
    return {
      kind,
      text,
      lower: text.toLowerCase().replaceAll("’", "'"),
      value,
      start,
      end: start + text.length,
    };
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

/** Words that say a number become one: `two dozen`, `1.5 million`. */
function joinNumbers(tokens: readonly Token[]): Token[] {
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const token = tokens[at] as Token;
    const next = tokens[at + 1];
    const scale = token.kind === "number" && next?.kind === "word" ? scaleOf(next.lower) : undefined;
    if (scale !== undefined && next !== undefined) {
      joined.push(joinTokens(token, next, (token.value as number) * scale));
      at += 1;
      continue;
    }
    const found = token.kind === "word" ? readSpelledNumber(wordsFrom(tokens, at)) : undefined;
    if (found === undefined || isPronoun(tokens, at, found.length)) {
      joined.push(token);
      continue;
    }
    joined.push(joinTokens(token, tokens[at + found.length - 1] as Token, found.value));
    at += found.length - 1;
  }
  return joined;
}

function wordsFrom(tokens: readonly Token[], from: number): string[] {
  const words: string[] = [];
  for (const token of tokens.slice(from, from + 12)) {
    if (token.kind !== "word") break;
    words.push(token.lower);
  }
  return words;
}

/** `the one`, `which one`: no number. */
function isPronoun(tokens: readonly Token[], at: number, length: number): boolean {
  if (length > 1 || tokens[at]?.lower !== "one") return false;
  return /^(?:the|this|that|each|any|no|which|every|other|another)$/u.test(tokens[at - 1]?.lower ?? "");
}

function joinTokens(first: Token, last: Token, value: number): Token {
  return {
    kind: "number",
    text: String(value),
    lower: String(value),
    value,
    start: first.start,
    end: last.end,
  };
}

function withoutEnd(span: Span): Span {
  let { to } = span;
  while (to > 0 && span.all[to - 1]?.kind === "mark") to -= 1;
  return new Span(span.source, span.all, 0, to);
}
