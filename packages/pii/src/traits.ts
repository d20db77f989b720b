/** What one look at a text tells: which detectors may find something in it, and in which ways it may be encoded. */
export interface Traits {
  digits: number;
  /** The length of the longest run of letters, digits, `_`, `-`, `+` and `/`. */
  word: number;
  /** The marks in the text: {@link AT} and the others. */
  signs: number;
}

export const AT = 1;
export const COLON = 2;
export const PERCENT = 4;
export const EQUALS = 8;
export const AMPERSAND = 16;
export const BACKSLASH = 32;
/** Marks between a name and its value. */
const ASSIGNING = COLON | EQUALS;

const DIGIT = 64;
const IN_WORD = 128;
const CLASSES = new Uint8Array(128);
for (const [index, sign] of ["@", ":", "%", "=", "&", "\\"].entries())
  CLASSES[sign.charCodeAt(0)] = 1 << index;
for (let code = 48; code < 123; code += 1)
  if (/[A-Za-z\d_]/.test(String.fromCharCode(code))) CLASSES[code] = code < 58 ? IN_WORD | DIGIT : IN_WORD;
for (const sign of "-+/") CLASSES[sign.charCodeAt(0)] = IN_WORD;

/** Reads a text once. */
export function traitsOf(text: string): Traits {
  let [digits, word, signs, run] = [0, 0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const of = CLASSES[text.charCodeAt(at)] ?? 0;
    if (of >= IN_WORD) {
      run += 1;
      if (of > IN_WORD) digits += 1;
    } else {
      if (run > word) word = run;
      run = 0;
      signs |= of;
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
  return (signs & ASSIGNING) !== 0 || word >= 15 || / is | -u|-----BEGIN/.test(text);
}
