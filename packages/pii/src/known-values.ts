import {
  LOWERED,
  MIN_LOOSE_DIGITS,
  countryCodeDigits,
  digitsOf,
  exactAt,
  extensionOf,
  isInNumber,
  isInWord,
  isLoose,
  isShortPart,
  lowered,
  prefixBefore,
  standsAlone,
} from "./value-characters.ts";
import type { Known } from "./value-characters.ts";
import type { Finding } from "./context.ts";

/** Minimum letters and digits of a known value. Shorter ones are only found by their form. */
export const MIN_CHARACTERS = 5;
/**
 * Maximum number of characters between two letters or digits of a value: `202) 555`, `ada <at> example`, or the same with
 * line ends.
 */
const MAX_BETWEEN = 5;
/** The same including spaces that align table columns. */
const MAX_ALIGNED = 256;
/** A value of the vault in a text: exactly (`entry`), or `alike` except for separators and case. */
export interface KnownFinding<Entry> extends Finding {
  entry?: Entry | undefined;
  alike: readonly Entry[];
}

/**
 * Finds the values of a vault anywhere in a text, in about linear time regardless of their number. Values are compared by
 * letters and digits, so that separators don't matter.
 */
export class KnownValues<Entry extends Known> {
  /** Entries by a hash of their letters and digits. */
  readonly #byHash = new Map<number, Entry | Entry[]>();
  /** The lengths of values with the same beginning, longest first. */
  readonly #lengths = new Map<number, number[]>();
  /** Values by the same beginnings. */
  readonly #begun = new Map<number, Entry[]>();
  /** A Bloom-like filter of beginnings, since at most positions of a text no value begins. */
  #filter = new Uint8Array(1 << 12);
  /** Values with fewer letters and digits, such as `!a!b!`. */
  readonly #marks = new Map<string, Entry>();

  add(entry: Entry): void {
    const value = String(entry.value);
    if (value.length < MIN_CHARACTERS) return;
    const count = readCompact(value);
    if (count < MIN_CHARACTERS) return void this.#marks.set(value, entry);
    this.#add(0, count, entry);
    const digits = digitsOf(entry);
    if (digits !== undefined && digits.length < count) this.#add(0, readCompact(digits), entry);
    if (entry.type !== "PHONE") return;
    const code = countryCodeDigits(value);
    this.#addPart(code, count, count, entry);
    const own = extensionOf(value)?.replace(/[^\p{L}\p{N}]/gu, "");
    if (own === undefined) return;
    this.#addPart(0, count - own.length, count, entry);
    this.#addPart(code, count - own.length, count, entry);
    const all = readCompact(value.replace(/\D/g, ""));
    this.#addPart(0, all, count, entry);
    this.#addPart(code, all, count, entry);
  }

  #addPart(from: number, to: number, count: number, entry: Entry): void {
    if (to - from < count && to - from >= MIN_LOOSE_DIGITS) this.#add(from, to, entry);
  }

  /** Adds an entry by a range of the last read letters and digits. */
  #add(from: number, to: number, entry: Entry): void {
    const hash = hashOfRun(from, to);
    const same = this.#byHash.get(hash);
    if (same === undefined) this.#byHash.set(hash, entry);
    else this.#byHash.set(hash, [...listOf(same).filter(({ value }) => value !== entry.value), entry]);
    const beginning = beginningOf(from);
    const lengths = this.#lengths.get(beginning);
    const begun = this.#begun.get(beginning) ?? [];
    const others = same === undefined ? begun : begun.filter(({ value }) => value !== entry.value);
    others.push(entry);
    this.#begun.set(beginning, others);
    if (lengths === undefined) {
      this.#lengths.set(beginning, [to - from]);
      this.#note(beginning);
    } else if (!lengths.includes(to - from)) {
      lengths.push(to - from);
      lengths.sort((a, b) => b - a);
    }
  }

  #note(beginning: number): void {
    const { length } = this.#filter;
    if (this.#lengths.size * MIN_SPARSE > length && length < MAX_PLACES) {
      this.#filter = new Uint8Array(length * 4);
      for (const one of this.#lengths.keys()) this.#filter[hashOf(one) & (this.#filter.length - 1)] = 1;
    }
    this.#filter[hashOf(beginning) & (this.#filter.length - 1)] = 1;
  }

  /** Quick test whether a value may begin in a text, or in consecutive cells. Most contain none. */
  mayHold(text: string | readonly (string | number)[]): boolean {
    if (this.#marks.size > 0) return true;
    if (this.#lengths.size === 0) return false;
    if (typeof text === "string") return this.#lookOn(text, 0) === FOUND;
    let beginning = 0;
    for (let at = 0; at < text.length && beginning !== FOUND; at += 1)
      beginning = this.#lookOn(String(text[at]), beginning);
    return beginning === FOUND;
  }

  /** Continues the search with the letters and digits of a text. @returns the last five, or `FOUND`. */
  #lookOn(text: string, before: number): number {
    const filter = this.#filter;
    const mask = filter.length - 1;
    let beginning = before;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const bits = code < 128 ? (BITS[code] ?? NO_BITS) : bitsOf(lowered(code));
      if (bits === NO_BITS) continue;
      beginning = ((beginning << 6) | bits) & BEGINNING;
      if (filter[hashOf(beginning) & mask] === 1) return FOUND;
    }
    return beginning;
  }

  /**
   * Lists the values in a text.
   *
   * @param isCut - Whether the text is truncated, so that its end may be the beginning of a value.
   */
  find(text: string, isCut = false): KnownFinding<Entry>[] {
    const found: KnownFinding<Entry>[] = [];
    for (const [value, entry] of this.#marks) {
      for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
        found.push({ start: at, end: at + value.length, type: entry.type, entry, alike: [entry] });
    }
    if (text.length < MIN_CHARACTERS || !this.mayHold(text)) return found;
    const count = readCompact(text);
    const mask = this.#filter.length - 1;
    let beginning = 0;
    let next = 0;
    for (let last = 0; last < count; last += 1) {
      beginning = withNext(beginning, codes[last] ?? 0);
      if (last < MIN_CHARACTERS - 1 || this.#filter[hashOf(beginning) & mask] === 0) continue;
      const first = last - MIN_CHARACTERS + 1;
      const lengths = first < next ? undefined : this.#lengths.get(beginning);
      if (lengths === undefined) continue;
      const match =
        this.#wholeAt(text, first, count, lengths) ??
        (isCut ? this.#beginningAt(text, first, count, beginning) : undefined);
      if (match === undefined) continue;
      found.push(match);
      while (next < count && (places[next] ?? 0) < match.end) next += 1;
    }
    return found;
  }

  #wholeAt(
    text: string,
    first: number,
    count: number,
    lengths: readonly number[],
  ): KnownFinding<Entry> | undefined {
    for (const length of lengths) {
      if (first + length > count) continue;
      const same = listOf(this.#byHash.get(hashOfRun(first, first + length))).filter((entry) =>
        endsWithRun(entry, first, first + length),
      );
      if (same.length === 0) continue;
      const start = places[first] ?? 0;
      const end = (places[first + length - 1] ?? 0) + 1;
      for (const entry of same) {
        const exact = exactAt(text, start, entry);
        if (exact !== undefined) return { ...exact, type: entry.type, entry, alike: same };
      }
      const compact = textOf(first, first + length);
      const loose = same.find((entry) => isLoose(entry, compact, text.slice(start, end)));
      if (loose === undefined || !isClose(text, first, length)) continue;
      if (isShortPart(loose, compact) && !standsAlone(text, start, end, length)) continue;
      // Letters may be joined to digits, as in units and prefixes.
      const isJoined = /^\d+$/.test(compact) ? isInNumber : isInWord;
      const from = isJoined(text, start) ? prefixBefore(text, start, loose) : start;
      if (from !== undefined && !isJoined(text, end))
        return { start: from, end, type: loose.type, alike: same };
    }
    return undefined;
  }

  /** A value that begins with the whole rest of the text. */
  #beginningAt(
    text: string,
    first: number,
    count: number,
    beginning: number,
  ): KnownFinding<Entry> | undefined {
    const start = places[first] ?? 0;
    const [longest = 0] = this.#lengths.get(beginning) ?? [];
    if (count - first >= longest || isInWord(text, start)) return undefined;
    for (const entry of this.#begun.get(beginning) ?? [])
      if (beginsWithRun(entry, first, count))
        return { start, end: text.length, type: entry.type, entry, alike: [entry] };
    return undefined;
  }
}

/** Letters and digits of the current text in lower case, and their positions. The buffers are reused. */
let codes = new Uint16Array(4_096);
let places = new Int32Array(4_096);

/** @returns their number. */
function readCompact(text: string): number {
  if (text.length > codes.length) {
    codes = new Uint16Array(text.length * 2);
    places = new Int32Array(text.length * 2);
  }
  let count = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = lowered(text.charCodeAt(at));
    if (code === 0) continue;
    codes[count] = code;
    places[count] = at;
    count += 1;
  }
  return count;
}

const BEGINNING = 0x3fff_ffff;
const NO_BITS = 64;
const FOUND = -1;
/** Minimum filter slots per beginning. */
const MIN_SPARSE = 32;
const MAX_PLACES = 1 << 22;
/** The bits of each ASCII character, see {@link withNext}. */
const BITS = Uint8Array.from(LOWERED, bitsOf);

function textOf(from: number, to: number): string {
  return String.fromCharCode(...codes.subarray(from, to));
}

function hashOfRun(from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (codes[at] ?? 0)) | 0;
  return hash;
}

/**
 * Whether the letters and digits of a value, its digits, or those of a phone number without its extension, end with those of
 * a range.
 */
function endsWithRun(entry: Known, from: number, to: number): boolean {
  const text = String(entry.value);
  if (endsIn(text, from, to)) return true;
  const extension = entry.type === "PHONE" ? extensionOf(text) : undefined;
  if (extension !== undefined && endsIn(text.slice(0, -extension.length), from, to)) return true;
  const digits = extension === undefined ? digitsOf(entry) : text.replace(/\D/g, "");
  return digits !== undefined && endsIn(digits, from, to);
}

function endsIn(text: string, from: number, to: number): boolean {
  let at = to;
  for (let index = text.length - 1; index >= 0 && at > from; index -= 1) {
    const code = lowered(text.charCodeAt(index));
    if (code !== 0 && code !== codes[(at -= 1)]) return false;
  }
  return at === from;
}

/** Whether the letters and digits of a value, those after its country code, or its digits begin with those of a range. */
function beginsWithRun(entry: Known, from: number, to: number): boolean {
  const whole = String(entry.value);
  const matches = (text: string, skipped = 0): boolean => {
    let at = from - skipped;
    for (let index = 0; index < text.length && at < to; index += 1) {
      const code = lowered(text.charCodeAt(index));
      if (code === 0) continue;
      if (at >= from && code !== codes[at]) return false;
      at += 1;
    }
    return at === to;
  };
  if (matches(whole)) return true;
  return entry.type === "PHONE"
    ? matches(whole, countryCodeDigits(whole))
    : matches(digitsOf(entry) ?? whole);
}

/** Six bits for each of the last five characters. */
function withNext(beginning: number, code: number): number {
  return ((beginning << 6) | bitsOf(code)) & BEGINNING;
}

function bitsOf(code: number): number {
  if (code === 0) return NO_BITS;
  return code < 58 ? code - 48 : code < 123 ? code - 87 : 36 + (code % 28);
}

function beginningOf(from: number): number {
  let beginning = 0;
  for (let at = from; at < from + MIN_CHARACTERS; at += 1) beginning = withNext(beginning, codes[at] ?? 0);
  return beginning;
}

function hashOf(beginning: number): number {
  return Math.imul(beginning, 0x9e37_79b1) >>> 10;
}

/** Most values are unique and stored without a list. */
function listOf<Entry extends Known>(entries: Entry | Entry[] | undefined): Entry[] {
  return entries === undefined ? [] : Array.isArray(entries) ? entries : [entries];
}

/** Whether there are only a few characters between any two of a value. */
function isClose(text: string, first: number, length: number): boolean {
  for (let at = first + 1; at < first + length; at += 1) {
    const [from, to] = [(places[at - 1] ?? 0) + 1, places[at] ?? 0];
    if (to - from <= MAX_BETWEEN) continue;
    if (to - from > MAX_ALIGNED || text.slice(from, to).replace(/[ \t]/g, "").length > MAX_BETWEEN)
      return false;
  }
  return true;
}
