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
  /** The text for comparisons: in lower case, apostrophes straight. */
  readonly lower: string;
  /** The value of a number, a quoted text or JSON. */
  readonly value?: JsonValue | undefined;
  /** Where it begins and ends in the step, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
}

/** Words that change nothing about what is asked for. */
const SMALL = new Set(
  "the a an please just simply kindly also me us my our your now right currently".split(" "),
);

/** A quoted text without its quotes; any other token as it is written. */
export function textOf({ kind, text, value }: Token): string {
  return kind === "quote" && typeof value === "string" ? value : text;
}

export function isSmall(token: Token | undefined): boolean {
  return token?.kind === "word" && SMALL.has(token.lower);
}
