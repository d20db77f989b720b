import { lookUp } from "./look-up.ts";
import { findQuotes } from "@cem/text";

const OPEN = "\uE000";
const CLOSE = "\uE001";
const GONE = "\uE002";

/** A quoted text inside a phrase's pattern. */
export const QUOTED = `${OPEN}\\d+${CLOSE}`;
/** A number as people write it: `-3`, `1,200.50`, `$20`. */
export const NUMBER = "[-−+]?[$€£]?\\d+(?:,\\d{3})*(?:\\.\\d+)?(?:[eE][-+]?\\d+)?";
/**
 * The words of one step while they are being read. What is quoted stands as one token each, so patterns never
 * look into it; what was understood is taken out, so what is left is what was not.
 */
export class Phrase {
  readonly quotes: readonly string[];
  #text: string;

  constructor(text: string) {
    const quotes: string[] = [];
    const parts: string[] = [];
    let last = 0;
    const clean = text.replaceAll(/[\uE000-\uE002]/gu, " ");
    for (const quote of findQuotes(clean)) {
      parts.push(clean.slice(last, quote.start), `${OPEN}${quotes.length}${CLOSE}`);
      quotes.push(quote.value);
      last = quote.end;
    }
    parts.push(clean.slice(last));
    this.quotes = quotes;
    this.#text = digitize(parts.join(""));
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

  /** Takes a range out. */
  remove(start: number, length: number): void {
    this.#text = `${this.#text.slice(0, start)} ${GONE} ${this.#text.slice(start + length)}`;
  }

  /** The quoted text that a token stands for, or undefined when it is not a token. */
  quoted(token: string): string | undefined {
    const match = new RegExp(`^\\s*${OPEN}(\\d+)${CLOSE}\\s*$`, "u").exec(token);
    return match === null ? undefined : this.quotes[Number(match[1])];
  }

  /** Text with its tokens put back as what was between the marks. */
  decode(text: string): string {
    return text.replaceAll(
      new RegExp(`${OPEN}(\\d+)${CLOSE}`, "gu"),
      (_, at: string) => this.quotes[Number(at)] ?? "",
    );
  }

  /** What a token says: a quoted text as it is, a number as a number, anything else as text. */
  value(token: string): string | number | boolean | null {
    const quote = this.quoted(token);
    if (quote !== undefined) return quote;
    const text = this.decode(token).trim();
    const number = readNumber(text);
    if (number !== undefined) return number;
    if (/^(?:true|false)$/iu.test(text)) return text.toLowerCase() === "true";
    return /^null$/iu.test(text) ? null : text;
  }
}

const SMALL =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const SCALES: Readonly<Record<string, number>> = {
  hundred: 100,
  thousand: 1_000,
  million: 1_000_000,
  billion: 1_000_000_000,
};

const NUMBER_WORDS = [...SMALL, ...TENS, ...Object.keys(SCALES), "dozen"].join("|");
/** A number in words, for use inside a pattern. */
const SPELLED_NUMBER = `(?:a (?:hundred|thousand|million|dozen)|half a dozen|(?:${NUMBER_WORDS})(?:[\\s-]+(?:and\\s+)?(?:${NUMBER_WORDS}))*)`;

/** Reads a number in digits or in words. */
export function readNumber(text: string): number | undefined {
  const plain = text
    .trim()
    .replace(/^([-−+]?)[$€£]/u, "$1")
    .replace("−", "-");
  if (/^[-+]?\d+(?:,\d{3})*(?:\.\d+)?(?:[eE][-+]?\d+)?$/u.test(plain) || /^[-+]?\.\d+$/u.test(plain)) {
    const number = Number(plain.replaceAll(",", ""));
    return Number.isFinite(number) ? number : undefined;
  }
  return readSpelledNumber(plain.toLowerCase());
}

function readSpelledNumber(text: string): number | undefined {
  const words = text.replace(/^minus\s+|^negative\s+/u, "").split(/[\s-]+/u);
  if (words.length > 12 || words[0] === "") return undefined;
  const sign = /^(?:minus|negative)\s/u.test(text) ? -1 : 1;
  if (text === "half a dozen") return 6;
  let total = 0;
  let current = 0;
  let seen = false;
  for (const word of words) {
    const small = SMALL.indexOf(word);
    const ten = TENS.indexOf(word);
    const scale = lookUp(SCALES, word);
    if (small >= 0) current += small;
    else if (ten >= 0) current += (ten + 2) * 10;
    else if (word === "dozen") current = (current || 1) * 12;
    else if (scale === 100) current = (current || 1) * 100;
    else if (scale !== undefined) {
      total += (current || 1) * scale;
      current = 0;
    } else if (word === "a" || (word === "and" && seen)) continue;
    else return undefined;
    seen = true;
  }
  return seen ? sign * (total + current) : undefined;
}

/** Puts digits where numbers stand in words: `two dozen` to `24`. */
export function digitize(text: string): string {
  const scaled = text.replaceAll(
    /(?<![\p{L}\d.])(\d{1,15}(?:\.\d{1,15})?)\s+(thousand|million|billion)\b/giu,
    (_, digits: string, scale: string) => {
      return String(Number(digits) * (lookUp(SCALES, scale.toLowerCase()) ?? 1));
    },
  );
  return scaled.replaceAll(new RegExp(`\\b${SPELLED_NUMBER}\\b`, "giu"), (words, at: number) => {
    const before = scaled.slice(Math.max(0, at - 6), at);
    if (/^one$/iu.test(words) && /\b(?:the|this|that|each|any|no|which)\s$/iu.test(before)) return words;
    const number = readNumber(words);
    return number === undefined ? words : String(number);
  });
}
