// Normalization of letters and digits for comparing values, and checks whether a match in a text is the value.
import { BEFORE_IBAN, PHONE_EXTENSION, PII_TYPES } from "./context.ts";

/** Values of at least this length with a digit or an `@` need no word boundaries. */
const MIN_UNBOUND_CHARACTERS = 8;
/** Values with fewer letters and digits are only found literally, not with other separators. */
const MIN_LOOSE_CHARACTERS = 8;
export const MIN_LOOSE_DIGITS = 7;
/** Fewer digits of a value with letters are only found as a separate number, since many numbers contain them. */
const MIN_LOOSE_PART = 9;
const WORD = /[\p{L}\p{N}]/u;
const DECIMAL = /\p{Nd}/u;
/** Zero padding: `0000536228726`. */
const ZEROS_BEFORE = /(?<!\d)0{1,32}$/;
/** The dialling prefix of a phone number: `0`, `1`, `001`, `49`, `0049`, also after zero padding. */
const DIALLED_BEFORE = /(?<!\d)(?:\+|0{2,32})?(?:0|[1-9]\d{0,2})$/;
const MAX_BEFORE = 37;
/** Built-in types whose digits alone identify nothing. IBANs, national ids and custom types may be numbers with letters. */
const WITHOUT_LETTERS: ReadonlySet<string> = new Set(
  PII_TYPES.filter((type) => type !== "IBAN" && type !== "NATIONAL_ID"),
);

/** The first non-ASCII decimal digit. */
const ARABIC_ZERO = 0x660;

export interface Known {
  type: string;
  value: string | number;
}

export const LOWERED = new Uint8Array(128);
for (let code = 48; code < 123; code += 1) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z\d]/.test(character)) LOWERED[code] = character.toLowerCase().charCodeAt(0);
}

/**
 * A letter or digit in lower case; 0 for any other character. Full-width characters and digits of all scripts are mapped to ASCII.
 */
export function lowered(code: number): number {
  if (code < 128) return LOWERED[code] ?? 0;
  if (code > 0xff_00 && code < 0xff_5f) return LOWERED[code - 0xfe_e0] ?? 0;
  const character = String.fromCharCode(code);
  // Each half of a surrogate pair counts as a letter.
  if ((code & 0xf800) === 0xd800) return code;
  if (!WORD.test(character)) return 0;
  if (code < ARABIC_ZERO || !DECIMAL.test(character)) return character.toLowerCase().charCodeAt(0);
  // The ten digits of a script begin at a multiple of 16, or six after it.
  return 48 + (code & 15) - (DECIMAL.test(String.fromCharCode(code & ~15)) ? 0 : 6);
}

/** The digits of a number with letters, since code may extract only the digits. */
export function digitsOf({ type, value }: Known): string | undefined {
  if (WITHOUT_LETTERS.has(type)) return undefined;
  const digits = String(value).replace(/\D/g, "");
  return digits.length < MIN_LOOSE_DIGITS ? undefined : digits;
}

export function extensionOf(phone: string): string | undefined {
  return /x/i.test(phone) ? PHONE_EXTENSION.exec(phone)?.[0] : undefined;
}

/** The range of a literal match, including leading and trailing symbols of the value. */
export function exactAt(text: string, at: number, { type, value: known }: Known) {
  const value = String(known);
  let lead = 0;
  while (lead < value.length && lowered(value.charCodeAt(lead)) === 0) lead += 1;
  const start = at - lead;
  if (start < 0 || !text.startsWith(value, start)) return undefined;
  const end = start + value.length;
  // It is distinctive enough to be found inside a longer word.
  const standsOut =
    value.length >= MIN_UNBOUND_CHARACTERS && type !== "NAME" && type !== "ADDRESS" && /[\d@]/.test(value);
  return standsOut || !(isInWord(text, start) || isInWord(text, end)) ? { start, end } : undefined;
}

/** Whether a value is also matched with other separators and case. */
export function isLoose({ type, value }: Known, compact: string, written: string): boolean {
  if (type === "IP") return written.toLowerCase() === String(value).toLowerCase();
  if (/^\d+$/.test(compact)) return compact.length >= MIN_LOOSE_DIGITS;
  const isLong = compact.length >= MIN_LOOSE_CHARACTERS;
  if (type === "SECRET") return isLong && /\d/.test(compact);
  return isLong || written.toLowerCase() === String(value).toLowerCase();
}

/** Whether only a few digits of a value with letters are left. */
export function isShortPart({ type, value }: Known, { length }: string): boolean {
  return length < MIN_LOOSE_PART && !WITHOUT_LETTERS.has(type) && /\p{L}/u.test(String(value));
}

/** Whether digits are a complete number, not part of one such as `112-1234567-42`. */
export function standsAlone(text: string, start: number, end: number, digits: number): boolean {
  const before = text.slice(Math.max(0, start - 2), start);
  const isPart =
    /[\p{L}\p{N}]$|\p{N}[._/:-]$/u.test(before) || /^[._/:-]?\p{N}|^\p{L}/u.test(text.slice(end, end + 2));
  return end - start === digits && !isPart;
}

/** The start of zero padding or a dialling prefix before a number. `undefined`: it is part of a longer number or word. */
export function prefixBefore(text: string, start: number, { type }: Known): number | undefined {
  const pattern = type === "PHONE" ? DIALLED_BEFORE : ZEROS_BEFORE;
  if (type === "IBAN" && BEFORE_IBAN.test(text.slice(Math.max(0, start - 4), start))) return start;
  const prefix = pattern.exec(text.slice(Math.max(0, start - MAX_BEFORE), start))?.[0];
  return prefix === undefined ? undefined : start - prefix.length;
}

/** Whether an index is inside a word. */
export function isInWord(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  // A letter after a backslash, as in `\n`, does not belong to the following word.
  if (text[index - 2] === "\\" && "nrt".includes(text[index - 1] ?? "-")) return false;
  return WORD.test(text[index - 1] ?? "") && WORD.test(text[index] ?? "");
}

/** Whether an index is between two digits. */
export function isInNumber(text: string, index: number): boolean {
  return DECIMAL.test(text[index - 1] ?? "") && DECIMAL.test(text[index] ?? "");
}

/** Phone country codes of one and two digits; all others have three. */
const COUNTRY_CODE = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** The number of digits of a phone number before those common to all ways of writing it. */
export function countryCodeDigits(value: string): number {
  const digits = value.replace(/\D/g, "");
  const exit = digits.startsWith("00") ? 2 : 0;
  if (exit === 0 && !value.trimStart().startsWith("+"))
    return digits.startsWith("0") || (digits.length === 11 && digits.startsWith("1")) ? 1 : 0;
  const code = exit + (COUNTRY_CODE.exec(digits.slice(exit))?.[0].length ?? 0);
  return value.includes("(0)") ? code + 1 : code;
}
