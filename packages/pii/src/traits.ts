import { SECRET_MARKS } from "./detectors/secret-names.ts";

/** The result of a single scan of a text: which detectors may find something in it, and how it may be encoded. */
export interface Traits {
  digits: number;
  /** The maximum number of digits in sequence, with at most three separators in between. */
  joined: number;
  /** The length of the longest run of letters, digits, `_`, `-`, `+` and `/`. */
  word: number;
  /** The kinds of characters in the text: {@link AT} and the others. */
  signs: number;
  /** The kinds of values that words in the text may name: {@link NAMES_SECRET} and the others. */
  names: number;
  /** Whether it is a date, with or without a time, like half of the texts in records. */
  isMoment: boolean;
}

export const AT = 1;
export const COLON = 2;
export const PERCENT = 4;
export const EQUALS = 8;
export const AMPERSAND = 16;
export const BACKSLASH = 32;
export const DOT = 64;
/** A space, or any non-ASCII character. */
export const SPACE = 128;
export const LETTER = 256;
export const LINE_END = 512;
/** A separator between the digits of a number. */
const SEPARATOR = 1_024;
const DIGIT = 2_048;
const IN_WORD = 4_096;
/** A non-ASCII character. */
export const WIDE = 8_192;
/** The upper bits: the letter's number from 1 to 26, else 0. */
const LETTER_SHIFT = 14;
const OTHER_LETTER = 27;
const MAX_SEPARATORS = 3;
const NOT_ASCII = SPACE | LETTER | SEPARATOR | WIDE | (OTHER_LETTER << LETTER_SHIFT);

const CLASSES = Uint32Array.from({ length: 128 }, (_, code) => {
  const sign = String.fromCharCode(code);
  const kind = ["@", ":", "%", "=", "&", "\\", ".", " "].indexOf(sign);
  return (
    (kind === -1 ? 0 : 1 << kind) |
    (sign === "\n" ? LINE_END : 0) |
    (/[ ./()-]/.test(sign) ? SEPARATOR : 0) |
    (/\d/.test(sign) ? DIGIT : 0) |
    (/[\w+/-]/.test(sign) ? IN_WORD : 0) |
    (/[A-Za-z_]/.test(sign) ? LETTER : 0) |
    (letterOf(sign) << LETTER_SHIFT)
  );
});

/** Names of passwords, keys and codes. */
export const NAMES_SECRET = 1;
export const NAMES_IDENTITY = 2;
export const NAMES_BIRTH = 4;
/**
 * Four characters of each such name that are rare in other words. A space means any non-letter, a question mark any
 * non-ASCII letter.
 */
const NAMES: readonly (readonly [number, string])[] = [
  [NAMES_SECRET, SECRET_MARKS.join("|")],
  [
    NAMES_IDENTITY,
    " cpf|cnpj|ermi| nip| uid| i f| n i|d nr|isca| c f| ahv| avs|svnr| sv |cher|ijks|onal|niss|insz|onnu|onnr|swei|tity|tit?|itei|obis|wodu|aadh|uida| pan| tax|steu|idnr| tin| nir|inse|iale|s?cu| dni| nif|ento| nie|ranj| bsn|cenu|sofi|pese| nhs|nino|nsur|ni n| iti|assp|isep|assn|ss n|ssep|asap|ssap|aspo|aszp|icen|rers|ondu|pate|rijb|jazd|lita| cnh| vat|stid|t id| tva| btw|tita| iva| ust|anen|ikat|? ss|vita| ni | dl |dula|rt?o| cni|trav|rd n|buin| cif",
  ],
  [
    NAMES_BIRTH,
    "born| dob|o b |birt|bore|burt|geb |n? l|?e l|ne l|ee l|n? ?|?e ?|aiss|naci|nasc|asci| il |boor|urod| ur |?del|f?dd|nac?|nac |? e |bday|????",
  ],
];
const FOUR_LETTERS = 0xf_ffff;
const NAMED = new Uint8Array(1 << 16);
for (const [kind, names] of NAMES) {
  for (const name of names.split("|")) {
    let four = 0;
    for (const sign of name) four = (four << 5) | (sign === "?" ? OTHER_LETTER : letterOf(sign));
    NAMED[placeOf(four)] = (NAMED[placeOf(four)] ?? 0) | kind;
  }
}

function letterOf(sign: string): number {
  return /[a-z]/i.test(sign) ? sign.charCodeAt(0) & 31 : 0;
}

/** The slot of four letters, which others may share. */
function placeOf(four: number): number {
  return (four ^ (four >>> 7)) & 0xffff;
}

/** Scans a text once. */
export function traitsOf(text: string): Traits {
  let digits = 0;
  let joined = 0;
  let word = 0;
  let signs = 0;
  let names = 0;
  // The state of the current word, number and name.
  let run = 0;
  let number = 0;
  let separators = 0;
  let four = 0;
  for (let at = 0; at < text.length; at += 1) {
    const of = CLASSES[text.charCodeAt(at)] ?? NOT_ASCII;
    signs |= of;
    four = ((four << 5) | (of >>> LETTER_SHIFT)) & FOUR_LETTERS;
    names |= NAMED[placeOf(four)] ?? 0;
    if ((of & IN_WORD) !== 0) run += 1;
    else if (run > 0) {
      if (run > word) word = run;
      run = 0;
    }
    if ((of & DIGIT) !== 0) {
      digits += 1;
      number = separators > MAX_SEPARATORS ? 1 : number + 1;
      separators = 0;
      if (number > joined) joined = number;
    } else separators = (of & SEPARATOR) === 0 ? MAX_SEPARATORS + 1 : separators + 1;
  }
  names |= NAMED[placeOf((four << 5) & FOUR_LETTERS)] ?? 0;
  return { digits, joined, word: Math.max(run, word), signs, names, isMoment: isMoment(text) };
}

const MOMENT = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?$/;
const MAX_MOMENT_CHARACTERS = 40;

function isMoment(text: string): boolean {
  return text[4] === "-" && text.length <= MAX_MOMENT_CHARACTERS && MOMENT.test(text);
}
