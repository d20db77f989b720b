// Letters and digits as values are compared by them, and whether a place in a text that has them is the value.
import { PHONE_EXTENSION, PII_TYPES } from "./context.ts";

/** Values of so many characters with a digit or an `@` need no end of a word around them. */
const MIN_UNBOUND_CHARACTERS = 8;
/** Values of fewer letters and digits are found as they are written, and not with other characters between them. */
const MIN_LOOSE_CHARACTERS = 8;
export const MIN_LOOSE_DIGITS = 7;
/** Fewer digits of a value that has letters, too, are found where they stand together and alone: many numbers have them within. */
const MIN_LOOSE_PART = 9;
const WORD = /[\p{L}\p{N}]/u;
const DECIMAL = /\p{Nd}/u;
/** Zeros that make a number as long as others: `0000536228726`. */
const ZEROS_BEFORE = /(?<!\d)0{1,32}$/;
/** The prefix of a phone's number without the code of its country: `0`, `1`, `001`, `49`, `0049`, after such zeros, too. */
const DIALLED_BEFORE = /(?<!\d)(?:\+|0{2,32})?(?:0|[1-9]\d{0,2})$/;
const MAX_BEFORE = 37;
/** Types of numbers that may have letters, as custom ones may. Of others the digits alone say nothing. */
const WITHOUT_LETTERS: ReadonlySet<string> = new Set(
  PII_TYPES.filter((type) => type !== "IBAN" && type !== "NATIONAL_ID"),
);

/** The first decimal digit that is not of ASCII. */
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

/** A letter or digit in lower case; 0 for any other character. Of full-width ones and of digits of all scripts, that of ASCII. */
export function lowered(code: number): number {
  if (code < 128) return LOWERED[code] ?? 0;
  if (code > 0xff_00 && code < 0xff_5f) return LOWERED[code - 0xfe_e0] ?? 0;
  const character = String.fromCharCode(code);
  // Of two halves of one character each counts as a letter.
  if ((code & 0xf800) === 0xd800) return code;
  if (!WORD.test(character)) return 0;
  if (code < ARABIC_ZERO || !DECIMAL.test(character)) return character.toLowerCase().charCodeAt(0);
  // The ten digits of a script begin at a multiple of 16, or six after it.
  return 48 + (code & 15) - (DECIMAL.test(String.fromCharCode(code & ~15)) ? 0 : 6);
}

/** The digits of a number that has letters, too, which code may keep alone. */
export function digitsOf({ type, value }: Known): string | undefined {
  if (WITHOUT_LETTERS.has(type)) return undefined;
  const digits = String(value).replace(/\D/g, "");
  return digits.length < MIN_LOOSE_DIGITS ? undefined : digits;
}

export function extensionOf(phone: string): string | undefined {
  return /x/i.test(phone) ? PHONE_EXTENSION.exec(phone)?.[0] : undefined;
}

/** Where a value stands as it is written, with what it has before its first letter or digit and after its last. */
export function exactAt(text: string, at: number, { type, value: known }: Known) {
  const value = String(known);
  let lead = 0;
  while (lead < value.length && lowered(value.charCodeAt(lead)) === 0) lead += 1;
  const start = at - lead;
  if (start < 0 || !text.startsWith(value, start)) return undefined;
  const end = start + value.length;
  // No word has it in it by chance, where letters or digits are joined to it.
  const standsOut =
    value.length >= MIN_UNBOUND_CHARACTERS && type !== "NAME" && type !== "ADDRESS" && /[\d@]/.test(value);
  return standsOut || !(isInWord(text, start) || isInWord(text, end)) ? { start, end } : undefined;
}

/** Whether a value is known again with other separators and in another case. */
export function isLoose({ type, value }: Known, compact: string, written: string): boolean {
  if (type === "IP") return written.toLowerCase() === String(value).toLowerCase();
  if (/^\d+$/.test(compact)) return compact.length >= MIN_LOOSE_DIGITS;
  const isLong = compact.length >= MIN_LOOSE_CHARACTERS;
  if (type === "SECRET") return isLong && /\d/.test(compact);
  return isLong || written.toLowerCase() === String(value).toLowerCase();
}

/** Whether few digits are all that is left of a value with letters. */
export function isShortPart({ type, value }: Known, { length }: string): boolean {
  return length < MIN_LOOSE_PART && !WITHOUT_LETTERS.has(type) && /\p{L}/u.test(String(value));
}

/** Whether digits are one number, and no part of one such as `112-1234567-42`. */
export function standsAlone(text: string, start: number, end: number, digits: number): boolean {
  const before = text.slice(Math.max(0, start - 2), start);
  const isPart =
    /[\p{L}\p{N}]$|\p{N}[._/:-]$/u.test(before) || /^[._/:-]?\p{N}|^\p{L}/u.test(text.slice(end, end + 2));
  return end - start === digits && !isPart;
}

/** Where zeros, or what is dialled, before a number begin. `undefined`: it is a part of a longer one. */
export function prefixBefore(text: string, start: number, { type }: Known): number | undefined {
  const pattern = type === "PHONE" ? DIALLED_BEFORE : ZEROS_BEFORE;
  const prefix = pattern.exec(text.slice(Math.max(0, start - MAX_BEFORE), start))?.[0];
  return prefix === undefined ? undefined : start - prefix.length;
}

/** Whether a place lies between two characters of one word. */
export function isInWord(text: string, index: number): boolean {
  if (index <= 0 || index >= text.length) return false;
  // A letter after a backslash, as in `\n`, is no part of the word that follows.
  if (text[index - 2] === "\\" && "nrt".includes(text[index - 1] ?? "-")) return false;
  return WORD.test(text[index - 1] ?? "") && WORD.test(text[index] ?? "");
}

/** Whether a place lies between two digits. */
export function isInNumber(text: string, index: number): boolean {
  return DECIMAL.test(text[index - 1] ?? "") && DECIMAL.test(text[index] ?? "");
}

/** One and two digits that countries' codes of phones are; all others have three. */
const COUNTRY_CODE = /^(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;

/** How many digits of a phone's number stand before those that every way to write it has. */
export function countryCodeDigits(value: string): number {
  const digits = value.replace(/\D/g, "");
  const exit = digits.startsWith("00") ? 2 : 0;
  if (exit === 0 && !value.trimStart().startsWith("+"))
    return digits.startsWith("0") || (digits.length === 11 && digits.startsWith("1")) ? 1 : 0;
  const code = exit + (COUNTRY_CODE.exec(digits.slice(exit))?.[0].length ?? 0);
  return value.includes("(0)") ? code + 1 : code;
}
