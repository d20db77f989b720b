import type { JsonValue } from "@cem/core";
import { isSmall, readTokens, textOf, type Token } from "./lexer.ts";

const [OPEN, CLOSE] = ["‹", "›"];
/** Symbols that are kept in a shape. */
const PLAIN_SIGN = /^(?:[-+*/%^()=<>&]|<=|>=|!=|==|===|!==|<>|\*\*)$/u;
/** Tokens with a value. */
const VALUE = `(?:- )?${OPEN}(?:number|quote|json|date|path|url|email|tag)\\d+${CLOSE}|true|false|null`;
const NAME = `[\\p{L}_][\\p{L}\\p{N}\\p{M}_'-]*|${OPEN}quote\\d+${CLOSE}`;

/** Tokens of a step, and their shape: words in lower case, and other tokens by kind and index: `save sum to ‹path3›`. */
export class Phrase {
  readonly tokens: readonly Token[];
  readonly shape: string;
  /** The text of the tokens. */
  readonly source: string;
  /** The start of each token in the shape; -1 for small words. */
  readonly #places: readonly number[];

  constructor(source: string, tokens: readonly Token[]) {
    this.source = source;
    this.tokens = tokens;
    const places: number[] = [];
    let shape = "";
    for (const [at, token] of tokens.entries()) {
      if (isSmall(token) && tokens.length > 1) {
        places.push(-1);
        continue;
      }
      if (shape !== "") shape += " ";
      places.push(shape.length);
      shape += shapeOf(token, at);
    }
    this.shape = shape;
    this.#places = places;
  }

  static read(source: string): Phrase {
    return new Phrase(source, readTokens(source));
  }

  /** As it is written. */
  get text(): string {
    const [first, last] = [this.tokens[0], this.tokens.at(-1)];
    return first === undefined || last === undefined ? "" : this.source.slice(first.start, last.end);
  }

  slice(start: number, end = this.tokens.length): Phrase {
    return new Phrase(this.source, this.tokens.slice(start, end));
  }

  /** Splits it at the matches of a pattern in the shape. */
  split(pattern: RegExp): Phrase[] {
    const parts: Phrase[] = [];
    let start = 0;
    for (const found of this.shape.matchAll(pattern)) {
      parts.push(this.within(start, found.index));
      start = found.index + found[0].length;
    }
    return [...parts, this.within(start, this.shape.length)].filter(({ tokens }) => tokens.length > 0);
  }

  /** Matches the whole shape with a {@link form}. */
  match(pattern: RegExp): Match | undefined {
    const found = pattern.exec(this.shape);
    return found === null ? undefined : matchOf(this, found);
  }

  /** The tokens of a range of the shape. */
  within(start: number, end: number): Phrase {
    const from = this.#places.findIndex((place) => place >= start);
    const to = this.#places.findLastIndex((place) => place >= 0 && place < end);
    return from < 0 || to < from ? this.slice(0, 0) : this.slice(from, to + 1);
  }

  /** The value of a phrase that is one number, quoted text, JSON, `true`, `false` or `null`. */
  get literal(): { value: JsonValue } | undefined {
    const [first, second, third] = this.tokens.filter((token) => !isSmall(token));
    if (first === undefined || third !== undefined) return undefined;
    if (second !== undefined)
      return first.lower === "-" && typeof second.value === "number" ? { value: -second.value } : undefined;
    if (first.value !== undefined) return { value: first.value };
    if (/^(?:date|path|url|email|tag)$/u.test(first.kind)) return { value: first.text };
    const isNamed = first.kind === "word" && /^(?:true|false|null)$/u.test(first.lower);
    return isNamed ? { value: first.lower === "null" ? null : first.lower === "true" } : undefined;
  }

  /** Words or quoted texts, without quotes, separated by spaces. */
  get words(): string {
    return this.tokens
      .filter((token) => !isSmall(token) || this.tokens.length === 1)
      .map(textOf)
      .join(" ");
  }
}

function shapeOf({ kind, lower }: Token, at: number): string {
  if (kind === "word" || kind === "mark") return lower.replaceAll(OPEN, "").replaceAll(CLOSE, "");
  return kind === "sign" && PLAIN_SIGN.test(lower) ? lower : `${OPEN}${kind}${at}${CLOSE}`;
}

/** The parts of a phrase that a form found. */
export type Match = ReturnType<typeof matchOf>;

function matchOf(phrase: Phrase, { indices, groups }: RegExpExecArray) {
  const match = {
    /** A part; `undefined` if it is missing. */
    part(name: string): Phrase | undefined {
      const range = indices?.groups?.[name];
      return range === undefined ? undefined : phrase.within(range[0], range[1]);
    },
    /** A part as text, without quotes; empty if it is missing. */
    text: (name: string): string => match.part(name)?.words ?? "",
    /** A part in lower case. */
    lower: (name: string): string => groups?.[name] ?? "",
    literal: (name: string): Phrase["literal"] => match.part(name)?.literal,
    number(name: string): number | undefined {
      const value = match.literal(name)?.value;
      return typeof value === "number" ? value : undefined;
    },
  };
  return match;
}

/** A whole shape: `{what}` is any words, `{file:path}` a token, `{field:name}` a word or quoted text, `{value:value}` any value. */
export function form(text: string): RegExp {
  const source = text.replaceAll(/(?<!\\p)\{(\w+)(?::(\w+))?\}/gu, (_, name: string, kind?: string) => {
    if (kind === undefined) return `(?<${name}>\\S.*?)`;
    if (kind === "name") return `(?<${name}>${NAME})`;
    if (kind === "value") return `(?<${name}>${VALUE})`;
    return `(?<${name}>${kind === "number" ? "(?:- )?" : ""}${OPEN}${kind}\\d+${CLOSE})`;
  });
  return new RegExp(`^(?:${source})$`, "du");
}

/** The parts of a phrase between commas, semicolons, "and" and "or". */
export function listOf(phrase: Phrase): Phrase[] {
  const parts: Phrase[] = [];
  let start = 0;
  for (let at = 0; at <= phrase.tokens.length; at += 1) {
    const token = phrase.tokens[at];
    if (token !== undefined && (token.kind === "quote" || !/^(?:[,;&]|and|or)$/u.test(token.lower))) continue;
    const part = phrase.slice(start, at);
    if (part.shape !== "") parts.push(part);
    start = at + 1;
  }
  return parts;
}

/** Joins phrases to alternatives of a regular expression, longest first. */
export function oneOf(phrases: Readonly<Record<string, string>>): string {
  return (
    Object.keys(phrases)
      .toSorted((a, b) => b.length - a.length)
      // In the form of a shape: without small words.
      .map((phrase) =>
        phrase.replaceAll(/\b(?:the|a|an)\s/gu, "").replaceAll(/[.*+?^${}()|[\]\\]/gu, String.raw`\$&`),
      )
      .join("|")
  );
}

/** The meaning of a phrase in a shape. */
export function meaningOf(phrase: string, phrases: Readonly<Record<string, string>>): string | undefined {
  return Object.hasOwn(phrases, phrase) ? phrases[phrase] : undefined;
}
