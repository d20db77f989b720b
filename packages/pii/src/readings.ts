import { isMoment } from "./detect.ts";
import { AMPERSAND, BACKSLASH, EQUALS, PERCENT, traitsOf } from "./traits.ts";

/** A text as it reads once it is decoded. */
export interface Reading {
  text: string;
  /** Where in the encoded text a place of the reading is. */
  placeOf(start: number, end: number): { start: number; end: number };
}

/** Percent-encoding, entities of HTML, and escapes of JSON and JavaScript however often they were quoted. */
const ESCAPE =
  /(?:%[\da-f]{2})+|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z]{2,6});|(?<!\\)\\+(?:u[\da-f]{4}|x[\da-f]{2}|["'/nrt])/gi;
/** Octets in quoted-printable, and line ends that it adds. */
const QUOTED_PRINTABLE = /(?:=[\dA-F]{2})+|=\r?\n/g;
/** Base64 of what begins with a printable character, in one line or in lines of the same length. */
const BASE64 = /(?<![\w+/=-])[I-Za-fw-z0](?:[\w+/-]{59,76}(?:\r?\n|\\r\\n|\\n)){0,4000}[\w+/-]{7,}={0,2}/g;
/** The rest of base64 whose beginning is not in the text. */
const BASE64_REST = /^[\w+/-]{64,}={0,2}/;
const MIN_BASE64_CHARACTERS = 12;
const ENCODING = PERCENT | AMPERSAND | BACKSLASH | EQUALS;
const NONE: readonly Reading[] = [];
const PROBED_CHARACTERS = 24;
/** The rest of base64 stands in a shorter text only where that is all of it. */
const MIN_REST_CHARACTERS = 256;
const NOT_ASCII = /[\x80-\xFF]/;
/** Entities of characters that stand in values. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  commat: "@",
  period: ".",
  plus: "+",
  hyphen: "-",
  dash: "-",
  lowbar: "_",
  colon: ":",
  equals: "=",
  sol: "/",
  lpar: "(",
  rpar: ")",
  num: "#",
  excl: "!",
  dollar: "$",
  percnt: "%",
  ast: "*",
  comma: ",",
};

/** The ways in which a text can be read besides the way it is written. Empty for most texts. */
export function readingsOf(text: string): readonly Reading[] {
  const { signs, word } = traitsOf(text);
  if ((word < MIN_BASE64_CHARACTERS && (signs & ENCODING) === 0) || isMoment(text)) return NONE;
  const readings: Reading[] = [];
  if ((signs & (PERCENT | AMPERSAND | BACKSLASH)) !== 0) addDecoded(text, ESCAPE, unescaped, readings);
  if ((signs & EQUALS) !== 0) addDecoded(text, QUOTED_PRINTABLE, unquoted, readings);
  if (word >= MIN_BASE64_CHARACTERS) addBase64(text, readings);
  return readings;
}

function addDecoded(
  text: string,
  pattern: RegExp,
  decode: (escape: string) => string | undefined,
  readings: Reading[],
): void {
  let decoded = "";
  let from = 0;
  /** Where each decoded part begins in the reading, and where it stands in the text. */
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
    const code = /x/i.test(escape[2] ?? "")
      ? Number.parseInt(escape.slice(3), 16)
      : Number.parseInt(escape.slice(2));
    return code <= 0x10_ffff ? String.fromCodePoint(code) : undefined;
  }
  if (escape.startsWith("&")) return ENTITIES[escape.slice(1, -1).toLowerCase()];
  const [kind = ""] = /[^\\]/.exec(escape) ?? [];
  if (/[ux]/i.test(kind) && escape.length > escape.indexOf(kind) + 2)
    return String.fromCharCode(Number.parseInt(escape.slice(escape.indexOf(kind) + 1), 16));
  return /[nrt]/i.test(kind) ? "\n" : kind;
}

function unquoted(escape: string): string {
  if (!/[\dA-F]/.test(escape)) return "";
  const octets = Uint8Array.from(escape.slice(1).split("="), (octet) => Number.parseInt(octet, 16));
  return new TextDecoder().decode(octets);
}

function addBase64(text: string, readings: Reading[]): void {
  for (const { 0: run, index } of text.matchAll(BASE64)) {
    const decoded = decodedBase64(run);
    if (decoded !== undefined) readings.push(wholeReading(decoded, index, index + run.length));
  }
  const rest = text.length < MIN_REST_CHARACTERS ? undefined : BASE64_REST.exec(text)?.[0];
  if (rest === undefined) return;
  for (const cut of [0, 1, 2, 3]) {
    const decoded = decodedBase64(rest.slice(cut));
    if (decoded !== undefined) readings.push(wholeReading(decoded, 0, rest.length));
  }
}

/** A reading of which no part can be told from the others. */
function wholeReading(text: string, start: number, end: number): Reading {
  return { text, placeOf: () => ({ start, end }) };
}

/** @returns `undefined` where it is no base64, or base64 of bytes that are no text. */
function decodedBase64(run: string): string | undefined {
  const plain = run
    .replace(/\\[rn]|[\s=]/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  const probed = charactersIn(plain.slice(0, PROBED_CHARACTERS));
  // Words of letters and digits seldom read like text when they are taken for base64.
  if (plain.length < MIN_BASE64_CHARACTERS || probed === undefined || !mayBeText(probed)) return undefined;
  const characters = charactersIn(plain);
  if (characters === undefined || !mayBeText(characters)) return undefined;
  if (!NOT_ASCII.test(characters)) return characters;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(characters, (character) => character.charCodeAt(0)),
    );
  } catch {
    return undefined;
  }
}

/** Whether characters, one for each byte, are those of a text: mostly ASCII, and none that controls. */
function mayBeText(characters: string): boolean {
  let others = 0;
  for (let at = 0; at < characters.length; at += 1) {
    const code = characters.charCodeAt(at);
    if (code < 9 || (code > 13 && code < 32 && code !== 27) || code === 127 || code > 0xf4) return false;
    if (code > 127) others += 1;
  }
  return others * 2 <= characters.length;
}

function charactersIn(base64: string): string | undefined {
  try {
    return atob(base64.length % 4 === 1 ? base64.slice(0, -1) : base64);
  } catch {
    return undefined;
  }
}
