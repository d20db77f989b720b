import type { JsonValue } from "@cem/core";
import { readDigits } from "../../language/numbers.ts";
import { readTokens } from "../../language/lexer.ts";
import { textOf } from "../../language/token.ts";

const OPEN = "\uE000";
const CLOSE = "\uE001";
const GONE = "\uE002";
const OPEN_JSON = "\uE003";
const CLOSE_JSON = "\uE004";
/** The first of the characters that number the tokens: digits would be read as numbers of the text. */
const FIRST = 0xf0000;
const PLACE = "[\\u{F0000}-\\u{FFFFD}]";

/** A quoted text inside a phrase's pattern. */
export const QUOTED = `${OPEN}${PLACE}${CLOSE}`;
/** A number as people write it: `-3`, `1,200.50`, `$20`. */
export const NUMBER = "[-−+]?[$€£]?\\d+(?:,\\d{3})*(?:\\.\\d+)?(?:[eE][-+]?\\d+)?";

/** What stands for a quoted text. */
export function quoteToken(at: number): string {
  return `${OPEN}${String.fromCodePoint(FIRST + at)}${CLOSE}`;
}

function jsonToken(at: number): string {
  return `${OPEN_JSON}${String.fromCodePoint(FIRST + at)}${CLOSE_JSON}`;
}

function numberOf(place: string | undefined): number {
  return (place?.codePointAt(0) ?? FIRST) - FIRST;
}

/**
 * The words of one step while they are being read. What is quoted stands as one token each, so patterns never
 * look into it; what was understood is taken out, so what is left is what was not.
 */
export class Phrase {
  readonly quotes: string[] = [];
  /** `value` is set where it is JSON. */
  readonly #blocks: { text: string; value: JsonValue | undefined }[] = [];
  #text: string;

  constructor(text: string) {
    const parts: string[] = [];
    let last = 0;
    const clean = text.replaceAll(/[\uE000-\uE004\u{F0000}-\u{FFFFD}]/gu, " ");
    for (const token of readTokens(clean).all) {
      parts.push(clean.slice(last, token.start));
      last = token.end;
      if (token.kind === "quote") parts.push(quoteToken(this.quotes.push(textOf(token)) - 1));
      else if (token.kind === "json" || token.kind === "braces")
        parts.push(jsonToken(this.#blocks.push({ text: token.text, value: token.value }) - 1));
      else parts.push(token.text);
    }
    parts.push(clean.slice(last));
    this.#text = parts.join("");
  }

  /** What is not taken yet, with a mark where something was. */
  get text(): string {
    return this.#text;
  }

  /** What is not taken yet, in plain words. */
  get rest(): string {
    return this.decode(this.#text.replaceAll(GONE, " ")).replaceAll(/\s+/gu, " ").trim();
  }

  /** Looks for a pattern without taking it. */
  find(pattern: RegExp): RegExpExecArray | undefined {
    return pattern.exec(this.#text) ?? undefined;
  }

  /** Looks for a pattern and takes it out. */
  take(pattern: RegExp): RegExpExecArray | undefined {
    const match = this.find(pattern);
    if (match === undefined || match[0] === "") return undefined;
    this.remove(match.index, match[0].length);
    return match;
  }

  /** Remembers what is not taken yet. The function that it returns puts that back. */
  remember(): () => void {
    const text = this.#text;
    return () => {
      this.#text = text;
    };
  }

  /** Takes a range out. */
  remove(start: number, length: number): void {
    this.#text = `${this.#text.slice(0, start)} ${GONE} ${this.#text.slice(start + length)}`;
  }

  /** The quoted text that a token stands for, or undefined when it is not a token. */
  quoted(token: string): string | undefined {
    const match = new RegExp(`^\\s*${OPEN}(${PLACE})${CLOSE}\\s*$`, "u").exec(token);
    return match === null ? undefined : this.quotes[numberOf(match[1])];
  }

  /** Takes JSON out: what `fits`. */
  takeJson(fits: (value: JsonValue) => boolean): JsonValue | undefined {
    for (const [at, { value }] of this.#blocks.entries()) {
      if (value === undefined || !fits(value)) continue;
      if (this.take(new RegExp(jsonToken(at), "u")) !== undefined) return value;
    }
    return undefined;
  }

  /** Text with its tokens put back as what was between the marks. */
  decode(text: string): string {
    return text
      .replaceAll(
        new RegExp(`${OPEN}(${PLACE})${CLOSE}`, "gu"),
        (_, at: string) => this.quotes[numberOf(at)] ?? "",
      )
      .replaceAll(
        new RegExp(`${OPEN_JSON}(${PLACE})${CLOSE_JSON}`, "gu"),
        (_, at: string) => this.#blocks[numberOf(at)]?.text ?? "",
      );
  }

  /** What a token says: a quoted text as it is, a number as a number, anything else as text. */
  value(token: string): string | number | boolean | null {
    const quote = this.quoted(token);
    if (quote !== undefined) return quote;
    const text = this.decode(token).trim();
    if (new RegExp(`^${NUMBER}$`, "u").test(text))
      return readDigits(text.replace("−", "-").replaceAll(/[$€£+]/gu, "")) ?? text;
    if (/^(?:true|false)$/iu.test(text)) return text.toLowerCase() === "true";
    return /^null$/iu.test(text) ? null : text;
  }
}
