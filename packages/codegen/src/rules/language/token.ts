import type { JsonValue } from "@cem/core";

/**
 * The kind of a token. `braces` is something in brackets that is no JSON: `{"answer": result}`. `tag` is `#general` or `@ada`.
 * `mark` is punctuation, `sign` any other character that is no letter.
 */
export type TokenKind =
  | "word"
  | "number"
  | "quote"
  | "json"
  | "braces"
  | "date"
  | "path"
  | "url"
  | "email"
  | "tag"
  | "sign"
  | "mark";

/** One word, number, quoted text or sign of a step. */
export interface Token {
  readonly kind: TokenKind;
  /** As it is written. */
  readonly text: string;
  /** What it is compared by: in lower case, apostrophes straight. */
  readonly lower: string;
  /** What a number, a quoted text or JSON says. */
  readonly value?: JsonValue | undefined;
  /** Where it begins and ends in the step, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Words that say nothing by themselves. Patterns step over them, and nobody has to claim them. */
const SMALL = new Set("the a an please just simply kindly also me us my our your".split(" "));

/** Some tokens of a step that follow each other. */
export class Span {
  /** The step's text. */
  readonly source: string;
  /** All tokens of the step. */
  readonly all: readonly Token[];
  readonly from: number;
  readonly to: number;

  constructor(source: string, all: readonly Token[], from = 0, to = all.length) {
    this.source = source;
    this.all = all;
    this.from = from;
    this.to = to;
  }

  get length(): number {
    return this.to - this.from;
  }

  get isEmpty(): boolean {
    return this.to <= this.from;
  }

  get tokens(): readonly Token[] {
    return this.all.slice(this.from, this.to);
  }

  /** The token at a place in the span; negative places count from its end. */
  at(place: number): Token | undefined {
    const at = place < 0 ? this.to + place : this.from + place;
    return at >= this.from && at < this.to ? this.all[at] : undefined;
  }

  /** Part of it; places as for arrays. */
  slice(start: number, end = this.length): Span {
    const place = (at: number): number => Math.max(0, Math.min(this.length, at < 0 ? this.length + at : at));
    return new Span(
      this.source,
      this.all,
      this.from + place(start),
      this.from + Math.max(place(start), place(end)),
    );
  }

  /** As it is written. */
  get text(): string {
    const [first, last] = [this.at(0), this.at(-1)];
    return first === undefined || last === undefined ? "" : this.source.slice(first.start, last.end);
  }

  /** Its tokens in lower case, one space between them. */
  get lower(): string {
    return this.tokens.map((token) => token.lower).join(" ");
  }

  /** Its words in lower case. */
  get words(): string[] {
    return this.tokens.filter((token) => token.kind === "word").map((token) => token.lower);
  }

  /** Without small words and marks at its beginning and end. */
  get trimmed(): Span {
    let { from, to } = this;
    while (from < to && isSmall(this.all[from])) from += 1;
    while (to > from && (this.all[to - 1]?.kind === "mark" || isSmall(this.all[to - 1]))) to -= 1;
    // Where there is nothing else, a small word is what is meant: a field called `a`.
    const isName = from === to && this.length === 1 && this.all[this.from]?.lower === "a";
    return isName ? this : new Span(this.source, this.all, from, to);
  }

  /** The value of a span that is one number, quoted text, JSON, `true`, `false` or `null`. */
  get literal(): { value: JsonValue } | undefined {
    const { tokens } = this.trimmed;
    const [first, second] = tokens;
    if (first === undefined || tokens.length > 2) return undefined;
    if (second !== undefined) {
      const isNegative = first.lower === "-" && second.kind === "number" && first.end === second.start;
      return isNegative ? { value: -(second.value as number) } : undefined;
    }
    if (first.kind === "number" || first.kind === "quote" || first.kind === "json")
      return { value: first.value ?? null };
    if (/^(?:true|false)$/u.test(first.lower)) return { value: first.lower === "true" };
    return first.lower === "null" ? { value: null } : undefined;
  }

  /** Its parts between commas, semicolons, "and", "or" and "&". */
  get list(): Span[] {
    return this.split((token) => isJoint(token));
  }

  /** Its parts between tokens. Empty parts are left out. */
  split(isSeparator: (token: Token) => boolean): Span[] {
    const parts: Span[] = [];
    let start = this.from;
    for (let at = this.from; at <= this.to; at += 1) {
      const token = this.all[at];
      if (at < this.to && (token === undefined || !isSeparator(token))) continue;
      const part = new Span(this.source, this.all, start, at).trimmed;
      if (!part.isEmpty) parts.push(part);
      start = at + 1;
    }
    return parts;
  }
}

/** What a quoted text says; any other token as it is written. */
export function textOf({ kind, text, value }: Token): string {
  return kind === "quote" && typeof value === "string" ? value : text;
}

export function isSmall(token: Token | undefined): boolean {
  return token?.kind === "word" && SMALL.has(token.lower);
}

function isJoint(token: Token): boolean {
  return /^(?:[,;&]|and|or)$/u.test(token.lower) && token.kind !== "quote";
}
