/** What one look at a text tells: which detectors may find something in it, and in which ways it may be encoded. */
export interface Traits {
  digits: number;
  /** The length of the longest run of letters, digits, `_`, `-`, `+` and `/`. */
  word: number;
  /** What stands in the text: {@link AT} and the others. */
  signs: number;
  /** Whether it has a number of seven digits. Known once somebody asked. */
  hasLongNumber?: boolean;
}

export const AT = 1;
export const COLON = 2;
export const PERCENT = 4;
export const EQUALS = 8;
export const AMPERSAND = 16;
export const BACKSLASH = 32;
export const DOT = 64;
/** A space, or any character that is not of ASCII. */
export const SPACE = 128;
export const LETTER = 256;
/** Marks between a name and its value. */
const ASSIGNING = COLON | EQUALS;

const DIGIT = 512;
const IN_WORD = 1_024;
const CLASSES = new Uint16Array(128);
for (const [index, sign] of ["@", ":", "%", "=", "&", "\\", ".", " "].entries())
  CLASSES[sign.charCodeAt(0)] = 1 << index;
for (let code = 48; code < 123; code += 1)
  if (/[A-Za-z\d_]/.test(String.fromCharCode(code))) CLASSES[code] = IN_WORD | (code < 58 ? DIGIT : LETTER);
for (const sign of "-+/") CLASSES[sign.charCodeAt(0)] = IN_WORD;

/** Reads a text once. */
export function traitsOf(text: string): Traits {
  let [digits, word, signs, run] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const of = CLASSES[text.charCodeAt(at)] ?? SPACE | LETTER;
    signs |= of;
    if (of >= IN_WORD) {
      run += 1;
      if ((of & DIGIT) !== 0) digits += 1;
    } else if (run > 0) {
      if (run > word) word = run;
      run = 0;
    }
  }
  return { digits, word: Math.max(run, word), signs };
}

/** Whether a text may hold a value: most texts of records are words that hold none. */
export function mayHold({ digits, word, signs }: Traits, text: string): boolean {
  return digits >= 4 || (signs & (AT | PERCENT)) !== 0 || mayHoldSecretText({ word, signs }, text);
}

/** Whether a text may hold a secret, by its own signs: something is assigned, a long word, or the beginning of a key. */
export function mayHoldSecretText({ word, signs }: Pick<Traits, "word" | "signs">, text: string): boolean {
  return (
    (signs & ASSIGNING) !== 0 ||
    word >= 15 ||
    ((signs & SPACE) !== 0 && text.length > 5 && / is | -u|-----BEGIN/.test(text))
  );
}
