import { countryCodeDigits } from "./types.ts";
import type { Finding } from "./types.ts";

/** Shorter values are found by their form or not at all. In letters and digits. */
const MIN_CHARACTERS = 5;
/** Values of so many characters with a digit or an `@` need no end of a word around them. */
const MIN_UNBOUND_CHARACTERS = 8;
/** Values of fewer letters and digits are found as they are written, and not with other characters between them. */
const MIN_LOOSE_CHARACTERS = 8;
const MIN_LOOSE_DIGITS = 7;
/** Characters that may stand between two letters or digits of a value: `202) 555`, `ada <at> example`, or the same with line ends. */
const MAX_BETWEEN = 5;
const WORD = /[\p{L}\p{N}]/u;
/** The prefix of a phone's number without the code of its country: `0`, `1`, `001`, `49`, `0049`. */
const DIALLED_BEFORE = /(?<!\d)(?:\+|00)?(?:0|[1-9]\d{0,2})$/;

interface Known {
  type: string;
  value: string | number;
}

/** Values that begin alike. */
interface Alike<Entry> {
  /** The lengths that there are, longest first. */
  lengths: number[];
  /** By a hash of their letters and digits. */
  entries: Map<number, Entry | Entry[]>;
}

/** A value of the vault in a text: as it was written there, or `alike` but for its separators and its case. */
export interface KnownFinding<Entry> extends Finding {
  entry?: Entry | undefined;
  alike: readonly Entry[];
}

/**
 * Finds again the values that a vault holds, wherever they stand, in about linear time however many they are. Values are
 * compared by their letters and digits, so that one is found whatever stands between these.
 */
export class KnownValues<Entry extends Known> {
  readonly #byBeginning = new Map<number, Alike<Entry>>();
  /** Which beginnings there may be, by a hash: most places of a text begin no value. */
  readonly #filter = new Uint8Array(1 << 16);
  /** Values with fewer letters and digits, such as `!a!b!`. */
  readonly #marks = new Map<string, Entry>();

  add(entry: Entry): void {
    const value = String(entry.value);
    if (value.length < MIN_CHARACTERS) return;
    const count = readCompact(value);
    if (count < MIN_CHARACTERS) return void this.#marks.set(value, entry);
    this.#add(0, count, entry);
    const code = entry.type === "PHONE" ? countryCodeDigits(value) : 0;
    if (code > 0 && count - code >= MIN_LOOSE_DIGITS) this.#add(code, count, entry);
  }

  /** Adds an entry by the letters and digits from one place to another of those that were read. */
  #add(from: number, to: number, entry: Entry): void {
    const beginning = beginningOf(from);
    let alike = this.#byBeginning.get(beginning);
    if (alike === undefined) {
      this.#byBeginning.set(beginning, (alike = { lengths: [], entries: new Map() }));
      this.#filter[hashOf(beginning)] = 1;
    }
    const hash = hashOfRun(from, to);
    const same = alike.entries.get(hash);
    if (same === undefined) alike.entries.set(hash, entry);
    else alike.entries.set(hash, [...listOf(same).filter(({ value }) => value !== entry.value), entry]);
    if (alike.lengths.includes(to - from)) return;
    alike.lengths.push(to - from);
    alike.lengths.sort((a, b) => b - a);
  }

  remove({ value }: Known): void {
    const count = readCompact(String(value));
    this.#marks.delete(String(value));
    const hash = hashOfRun(0, count);
    const entries = this.#byBeginning.get(beginningOf(0))?.entries;
    const others = listOf(entries?.get(hash)).filter((one) => one.value !== value);
    if (others.length > 0) entries?.set(hash, others);
    else entries?.delete(hash);
  }

  /** Whether a value may begin as a text does. */
  mayBegin(text: string): boolean {
    return this.mayHold([text], MIN_CHARACTERS);
  }

  /** Whether a value may begin in texts that follow each other, within so many letters and digits. Most hold none. */
  mayHold(texts: readonly (string | number)[], most = Number.POSITIVE_INFINITY): boolean {
    const filter = this.#filter;
    let [beginning, count] = [0, 0];
    for (const one of texts) {
      const text = typeof one === "string" ? one : String(one);
      for (let at = 0; at < text.length && count < most; at += 1) {
        const code = text.charCodeAt(at);
        const bits = code < 128 ? (BITS[code] ?? NO_BITS) : bitsOf(lowered(code));
        if (bits === NO_BITS) continue;
        beginning = ((beginning << 6) | bits) & BEGINNING;
        count += 1;
        if (filter[hashOf(beginning)] === 1 && count >= MIN_CHARACTERS) return true;
      }
    }
    return false;
  }

  /**
   * Lists the values in a text.
   *
   * @param isCut - Whether the text is cut, so that its end may be the beginning of a value.
   */
  find(text: string, isCut = false): KnownFinding<Entry>[] {
    const found: KnownFinding<Entry>[] = [];
    for (const [value, entry] of this.#marks) {
      for (let at = text.indexOf(value); at !== -1; at = text.indexOf(value, at + value.length))
        found.push({ start: at, end: at + value.length, type: entry.type, entry, alike: [entry] });
    }
    if (this.#byBeginning.size === 0 || text.length < MIN_CHARACTERS || !this.mayHold([text])) return found;
    const count = readCompact(text);
    let beginning = 0;
    let next = 0;
    for (let last = 0; last < count; last += 1) {
      beginning = withNext(beginning, codes[last] ?? 0);
      if (last < MIN_CHARACTERS - 1 || this.#filter[hashOf(beginning)] === 0) continue;
      const first = last - MIN_CHARACTERS + 1;
      const alike = first < next ? undefined : this.#byBeginning.get(beginning);
      if (alike === undefined) continue;
      const match =
        wholeAt(text, first, count, alike) ?? (isCut ? beginningAt(text, first, count, alike) : undefined);
      if (match === undefined) continue;
      found.push(match);
      while (next < count && (places[next] ?? 0) < match.end) next += 1;
    }
    return found;
  }
}

/** Letters and digits of the text that is looked at, in lower case, and where each stands. Used again for each text. */
let codes = new Uint16Array(4_096);
let places = new Int32Array(4_096);

/** @returns how many there are. */
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

const LOWERED = new Uint8Array(128);
for (let code = 48; code < 123; code += 1) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z\d]/.test(character)) LOWERED[code] = character.toLowerCase().charCodeAt(0);
}

const BEGINNING = 0x3fff_ffff;
const NO_BITS = 64;
/** The bits of each character of ASCII, see {@link withNext}. */
const BITS = Uint8Array.from(LOWERED, bitsOf);

/** A letter or digit in lower case; 0 for any other character. */
function lowered(code: number): number {
  if (code < 128) return LOWERED[code] ?? 0;
  const character = String.fromCharCode(code);
  // Of two halves of one character each counts as a letter.
  return (code & 0xf800) === 0xd800 || WORD.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
}

function textOf(from: number, to: number): string {
  return String.fromCharCode(...codes.subarray(from, to));
}

function hashOfRun(from: number, to: number): number {
  let hash = 0;
  for (let at = from; at < to; at += 1) hash = (Math.imul(hash, 31) + (codes[at] ?? 0)) | 0;
  return hash;
}

/** Whether the letters and digits of a value end with those from one place to another. */
function endsWithRun({ value }: Known, from: number, to: number): boolean {
  const text = String(value);
  let at = to;
  for (let index = text.length - 1; index >= 0 && at > from; index -= 1) {
    const code = lowered(text.charCodeAt(index));
    if (code !== 0 && code !== codes[(at -= 1)]) return false;
  }
  return at === from;
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
  return Math.imul(beginning, 0x9e37_79b1) >>> 16;
}

/** Most values are like no other: they are kept without a list. */
function listOf<Entry extends Known>(entries: Entry | Entry[] | undefined): Entry[] {
  return entries === undefined ? [] : Array.isArray(entries) ? entries : [entries];
}

function wholeAt<Entry extends Known>(
  text: string,
  first: number,
  count: number,
  { lengths, entries }: Alike<Entry>,
): KnownFinding<Entry> | undefined {
  for (const length of lengths) {
    if (first + length > count) continue;
    const same = listOf(entries.get(hashOfRun(first, first + length))).filter((entry) =>
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
    if (loose === undefined || !isClose(first, length)) continue;
    const from = boundBefore(text, start, loose);
    if (from !== undefined && !isInWord(text, end))
      return { start: from, end, type: loose.type, alike: same };
  }
  return undefined;
}

/** Where a value stands as it is written, with what it has before its first letter or digit and after its last. */
function exactAt(text: string, at: number, entry: Known): { start: number; end: number } | undefined {
  const value = String(entry.value);
  let lead = 0;
  while (lead < value.length && lowered(value.charCodeAt(lead)) === 0) lead += 1;
  const start = at - lead;
  if (start < 0 || !text.startsWith(value, start)) return undefined;
  const end = start + value.length;
  return standsOut(value, entry) || !(isInWord(text, start) || isInWord(text, end))
    ? { start, end }
    : undefined;
}

/** Whether a value is known again with other separators and in another case. */
function isLoose({ type, value }: Known, compact: string, written: string): boolean {
  if (type === "IP") return written.toLowerCase() === String(value).toLowerCase();
  if (/^\d+$/.test(compact)) return compact.length >= MIN_LOOSE_DIGITS;
  const isLong = compact.length >= MIN_LOOSE_CHARACTERS;
  if (type === "SECRET") return isLong && /\d/.test(compact);
  return isLong || written.toLowerCase() === String(value).toLowerCase();
}

/** Whether no more than a few characters stand between any two of a value. */
function isClose(first: number, length: number): boolean {
  for (let at = first + 1; at < first + length; at += 1)
    if ((places[at] ?? 0) - (places[at - 1] ?? 0) > MAX_BETWEEN + 1) return false;
  return true;
}

/** The beginning of a value that is no part of a longer word: with what is dialled before a phone's number. */
function boundBefore(text: string, start: number, { type }: Known): number | undefined {
  if (!isInWord(text, start)) return start;
  if (type !== "PHONE") return undefined;
  const dialled = DIALLED_BEFORE.exec(text.slice(Math.max(0, start - 7), start))?.[0];
  return dialled === undefined ? undefined : start - dialled.length;
}

/** A value whose beginning is all the rest of a text. */
function beginningAt<Entry extends Known>(
  text: string,
  first: number,
  count: number,
  { lengths, entries }: Alike<Entry>,
): KnownFinding<Entry> | undefined {
  const start = places[first] ?? 0;
  if (count - first >= (lengths[0] ?? 0) || isInWord(text, start)) return undefined;
  const rest = textOf(first, count);
  for (const entry of [...entries.values()].flatMap(listOf)) {
    const characters = Array.from(String(entry.value), (one) =>
      String.fromCharCode(lowered(one.charCodeAt(0))),
    );
    const compact = characters.join("").replaceAll("\0", "");
    const isBegun =
      compact.startsWith(rest) ||
      (entry.type === "PHONE" && compact.startsWith(rest, countryCodeDigits(String(entry.value))));
    if (isBegun) return { start, end: text.length, type: entry.type, entry, alike: [entry] };
  }
  return undefined;
}

/** Whether a value is found also where letters or digits are joined to it: no word has it in it by chance. */
function standsOut(value: string, { type }: { type: string }): boolean {
  return (
    value.length >= MIN_UNBOUND_CHARACTERS && type !== "NAME" && type !== "ADDRESS" && /[\d@]/.test(value)
  );
}

/** Whether a place lies between two characters of one word. */
function isInWord(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  // A letter after a backslash, as in `\n`, is no part of the word that follows.
  if (text[index - 2] === "\\" && "nrt".includes(text[index - 1] ?? "-")) return false;
  return WORD.test(text[index - 1] ?? "") && WORD.test(text[index] ?? "");
}
