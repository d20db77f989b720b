import { bytesOf } from "./embedded-data.ts";
import { AMPERSAND, BACKSLASH, EQUALS, PERCENT, traitsOf, type Traits } from "./traits.ts";

/** A decoded reading of a text. */
export interface Reading {
  text: string;
  /** Maps a range of the reading to the encoded text. */
  placeOf(start: number, end: number): { start: number; end: number };
}

/** Percent-encoding, HTML entities, and JSON and JavaScript escapes at any level of quoting. */
const ESCAPE =
  /(?:%[\da-f]{2})+|&(?:#\d{1,7};?|#x[\da-f]{1,6};?|[a-z]{2,7};)|(?<!\\)\\+(?:u[\da-f]{4}|u\{[\da-f]{1,6}\}|x[\da-f]{2}|["'/nrt])/gi;
/** Octets in quoted-printable and its soft line breaks, even within a multi-byte character. */
const QUOTED_PRINTABLE = /(?:=[\dA-F]{2}(?:=\r?\n(?==[\dA-F]{2}))?)+|=\r?\n/g;
/** Base64 in one line, or in lines of the same length. */
const BASE64 = /(?:[\w+/-]{60,76}(?:\r?\n|\\r\\n|\\n)){0,4000}(?:[\w+/-]{8,}={0,2}|[\w+/-]{2,7}={1,2})/y;
/** The rest of base64 whose beginning is outside of the text. */
const BASE64_REST = /^[\w+/-]{64,4000000}={0,2}/;
/** A longer line is taken without the pattern: it would exhaust the stack of regular expressions. */
const LONG_LINE_CHARACTERS = 1_000_000;
/**
 * The text between two values of printed data (JSON, YAML, HTML cells, query strings), with the name of the second. Also
 * markup within a value: tags, terminal colours (after a control character), a `+` for a space.
 */
const BETWEEN_PRINTED =
  /[{,][\s{[]{0,32}(?:(?:"[^"\\\n]{0,64}"|'[^'\\\n]{0,64}'|[\w$]{1,64})(?::| =>)[\s{[]{0,32})*|\n[ \t-]{0,32}[\w$]{1,64}(?::[ \t]|[ \t]?=)[ \t]{0,8}|<\/\w{1,16}>\s{0,32}(?:<\/?\w[^<>]{0,64}>\s{0,32}){1,4}|<(?:!--|\/?[A-Za-z])[^<>]{0,256}>|[^\s -\uFFFF]\[[\d;]{0,16}m|[&;] ?[\w-]{1,64}=|(?<=\S)\+(?=\S)/g;
/** The matches that are markup within a value. Only colours end with this letter. */
const WITHIN_PRINTED = /m$|^<(?!br)[^<]*$/i;
const MIN_BASE64_CHARACTERS = 12;
/** Maximum length of a path before base64. */
const MAX_PATH_CHARACTERS = 256;
const ENCODING = PERCENT | AMPERSAND | BACKSLASH | EQUALS;
const NONE: readonly Reading[] = [];
/** The length of the shortest base64 line. */
const PROBED_CHARACTERS = 60;
/** In a shorter text, the rest of base64 is only recognized if it is the whole text. */
const MIN_REST_CHARACTERS = 256;
const NOT_ASCII = /[\x80-\xFF]/;
const REST_OF_CHARACTER = /^[\x80-\xBF]{1,3}/;
/** Parses a list of `name:character`. */
function charactersByName(list: string): Readonly<Record<string, string>> {
  return Object.fromEntries(list.split(" ").map((named) => [named.slice(0, -2), named.slice(-1)]));
}

/** HTML entities of characters that occur in values. */
const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: " ",
  ...charactersByName(
    `shy:\u00AD ensp:\u2002 emsp:\u2003 thinsp:\u2009 amp:& lt:< gt:> quot:" apos:' commat:@ period:. plus:+ hyphen:- dash:- lowbar:_ colon:: equals:= sol:/ lpar:( rpar:) num:# excl:! szlig:ß aelig:æ oslash:ø lstrok:ł eth:ð thorn:þ dollar:$ percnt:% ast:* comma:,`,
  ),
};
/** Diacritics by their names in HTML entities. */
const MARKS = charactersByName(
  "acute:\u0301 caron:\u030C cedil:\u0327 circ:\u0302 grave:\u0300 ogon:\u0328 ring:\u030A tilde:\u0303 uml:\u0308",
);

/** Whether a text may be encoded, judging by its characters. */
export function mayBeEncoded({ signs, word, isMoment }: Traits): boolean {
  return (word >= MIN_BASE64_CHARACTERS || (signs & ENCODING) !== 0) && !isMoment;
}

/** The decoded readings of a text. Empty for most texts. */
export function readingsOf(text: string, traits = traitsOf(text)): readonly Reading[] {
  const { signs, word } = traits;
  if (!mayBeEncoded(traits)) return NONE;
  const readings: Reading[] = [];
  if ((signs & (PERCENT | AMPERSAND | BACKSLASH)) !== 0) addDecoded(text, ESCAPE, unescaped, readings);
  if ((signs & EQUALS) !== 0) addDecoded(text, QUOTED_PRINTABLE, unquoted, readings);
  if (word >= MIN_BASE64_CHARACTERS) addBase64(text, readings);
  return readings;
}

/** The values of printed data one after the other, without names. `undefined` for other texts. */
export function printedValues(text: string): Reading | undefined {
  const isPrinted =
    (text.includes(",") && /["':]/.test(text)) ||
    text.includes("=") ||
    text.includes("\u001B") ||
    /\n[^\n:]{1,96}: |<[!/A-Za-z]/.test(text);
  const readings: Reading[] = [];
  if (isPrinted) addDecoded(text, BETWEEN_PRINTED, unprinted, readings);
  return readings[0];
}

function unprinted(between: string): string | undefined {
  if (between.length === 1) return between === "+" ? " " : undefined;
  return WITHIN_PRINTED.test(between) ? "" : ",";
}

function addDecoded(
  text: string,
  pattern: RegExp,
  decode: (escape: string) => string | undefined,
  readings: Reading[],
): void {
  let decoded = "";
  let from = 0;
  /** Positions of each decoded part in the reading and in the text. */
  const parts: { at: number; start: number; end: number }[] = [];
  for (const { 0: escape, index } of text.matchAll(pattern)) {
    const plain = decode(escape);
    if (plain === undefined) continue;
    decoded += text.slice(from, index);
    parts.push({ at: decoded.length, start: index, end: index + escape.length });
    decoded += plain;
    from = index + escape.length;
    parts.push({ at: decoded.length, start: from, end: from });
  }
  if (parts.length === 0) return;
  decoded += text.slice(from);
  const placeOf = (at: number): { start: number; end: number } => {
    let [low, high] = [0, parts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((parts[middle]?.at ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const part = parts[low - 1];
    if (part === undefined) return { start: at, end: at + 1 };
    if (part.end > part.start) return part;
    return { start: part.start + at - part.at, end: part.start + at - part.at + 1 };
  };
  readings.push({
    text: decoded,
    placeOf: (start, end) => ({ start: placeOf(start).start, end: placeOf(end - 1).end }),
  });
}

function unescaped(escape: string): string | undefined {
  try {
    if (escape.startsWith("%")) return decodeURIComponent(escape);
  } catch {
    return undefined;
  }
  if (escape.startsWith("&#")) {
    const isHexadecimal = /x/i.test(escape[2] ?? "");
    return characterOf(Number.parseInt(escape.slice(isHexadecimal ? 3 : 2), isHexadecimal ? 16 : 10));
  }
  if (escape.startsWith("&")) {
    const mark = MARKS[escape.slice(2, -1)];
    if (mark !== undefined) return `${escape[1]}${mark}`.normalize();
    return ENTITIES[escape.slice(1, -1).toLowerCase()];
  }
  const [kind = ""] = /[^\\]/.exec(escape) ?? [];
  if (/[ux]/i.test(kind) && escape.length > escape.indexOf(kind) + 2)
    return characterOf(Number.parseInt(escape.slice(escape.indexOf(kind) + 1).replace("{", ""), 16));
  return /[nrt]/i.test(kind) ? "\n" : kind;
}

function characterOf(code: number): string | undefined {
  return code <= 0x10_ffff ? String.fromCodePoint(code) : undefined;
}

function unquoted(escape: string): string {
  const octets = Uint8Array.from(escape.match(/[\dA-F]{2}/g) ?? [], (octet) => Number.parseInt(octet, 16));
  return new TextDecoder().decode(octets);
}

function addBase64(text: string, readings: Reading[]): void {
  let start = 0;
  /** The end of the lines that were already decoded together. */
  let tried = 0;
  for (let at = 0; at <= text.length; at += 1) {
    if (sixtyFourth(text, at) !== NONE_OF_64) continue;
    if (at - start >= MIN_BASE64_CHARACTERS) {
      const isTried = start < tried;
      const run = !isTried && mayBeginText(text, start, at - start) ? linesFrom(text, start, at) : undefined;
      const decoded = run && decodedBase64(run);
      if (run !== undefined) tried = start + run.length;
      if (decoded === undefined)
        addPart(text, { start, end: at, isLine: isTried || tried > at + 2 }, readings);
      else readings.push(wholeReading(decoded, start, (at = tried)));
    }
    start = at + 1;
  }
  const rest = text.length < MIN_REST_CHARACTERS ? undefined : BASE64_REST.exec(text)?.[0];
  if (rest === undefined) return;
  for (const cut of [0, 1, 2, 3]) {
    const decoded = mayBeginText(rest, cut, rest.length) ? decodedBase64(rest.slice(cut)) : undefined;
    if (decoded !== undefined) readings.push(wholeReading(decoded, 0, rest.length));
  }
}

/** The base64 that begins with a line, and may go on with others of the same length. */
function linesFrom(text: string, start: number, end: number): string | undefined {
  if (end - start > LONG_LINE_CHARACTERS) return text.slice(start, end);
  BASE64.lastIndex = start;
  return BASE64.exec(text)?.[0];
}

/** Decodes base64 at the end of a line: after a symbol, since a path may precede it, or the whole line. */
function addPart(
  text: string,
  run: { start: number; end: number; isLine: boolean },
  readings: Reading[],
): void {
  const { start, end, isLine } = run;
  const last = Math.min(end, start + MAX_PATH_CHARACTERS);
  for (let from = start, at = start; at <= last; at += 1) {
    if (at < last && sixtyFourth(text, at) < FIRST_SIGN) continue;
    const isPart = at - from >= MIN_BASE64_CHARACTERS && (isLine || from > start);
    const decoded =
      isPart && mayBeginText(text, from, at - from) ? decodedBase64(text.slice(from, end)) : undefined;
    if (decoded !== undefined) return void readings.push(wholeReading(decoded, from, end));
    from = at + 1;
  }
}

/** A reading whose parts can't be mapped individually. */
function wholeReading(text: string, start: number, end: number): Reading {
  return { text, placeOf: () => ({ start, end }) };
}

/** @returns `undefined` if it is not base64 of text. */
function decodedBase64(run: string): string | undefined {
  const plain = run
    .replace(/\\[rn]|[\s=]/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  if (plain.length < MIN_BASE64_CHARACTERS) return undefined;
  try {
    const characters = atob(plain.length % 4 === 1 ? plain.slice(0, -1) : plain);
    if (!mayBeText(characters)) return undefined;
    if (!NOT_ASCII.test(characters)) return characters;
    // Pieces of a long text may begin or end within a character.
    const bytes = bytesOf(characters.replace(REST_OF_CHARACTER, ""));
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}

/** Whether bytes, one per character, may be text: without control characters. */
function mayBeText(characters: string): boolean {
  for (let at = 0; at < characters.length; at += 1) if (!isOfText(characters.charCodeAt(at))) return false;
  return true;
}

function isOfText(byte: number): boolean {
  return (byte > 31 && byte !== 127 && byte < 0xf5) || (byte > 8 && byte < 14) || byte === 27;
}

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const NONE_OF_64 = 64;
/** The values of `+`, `-`, `/` and `_` start here. */
const FIRST_SIGN = 62;
const SIXTY_FOURTHS = Uint8Array.from({ length: 128 }, (_, code) => {
  const at = ALPHABET.indexOf(String.fromCharCode(code).replace("-", "+").replace("_", "/"));
  return at === -1 ? NONE_OF_64 : at;
});

/** The six bits of a base64 character. */
function sixtyFourth(text: string, at: number): number {
  return at < text.length ? (SIXTY_FOURTHS[text.charCodeAt(at)] ?? NONE_OF_64) : NONE_OF_64;
}

/**
 * Whether a run decodes to plausible text at its beginning, which ordinary words rarely do. A line of base64 may begin
 * within a character.
 */
function mayBeginText(text: string, start: number, length: number): boolean {
  let [held, bits, before] = [0, 0, length < PROBED_CHARACTERS ? 0 : 0x80];
  for (let at = start; at < start + PROBED_CHARACTERS; at += 1) {
    const value = sixtyFourth(text, at);
    if (value === NONE_OF_64) break;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    const byte = (held >> bits) & 0xff;
    // UTF-8: continuation bytes only follow a multi-byte character's first byte.
    const mayFollow = (byte & 0xc0) === 0x80 ? before > 127 : before < 0xc0;
    if (!mayFollow || !isOfText(byte)) return false;
    before = byte;
  }
  return true;
}
