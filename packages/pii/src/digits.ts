/** A run of digits. */
export interface DigitGroup {
  start: number;
  end: number;
  text: string;
}

/** Groups of digits with at most two separating characters between one and the next. */
export interface DigitSequence {
  start: number;
  end: number;
  groups: DigitGroup[];
}

const SEQUENCE = /\d+(?:[ \u00A0\u2011./()-]{1,2}\d+)*/g;
const GROUP = /\d+/g;
/** Groups of a longer sequence stand in a table of numbers. */
const MAX_SEQUENCE_CHARACTERS = 4_096;

/** Lists what could be a number that people write in groups, in the order of the text. */
export function digitSequences(text: string): DigitSequence[] {
  const sequences: DigitSequence[] = [];
  for (const { 0: match, index } of text.matchAll(SEQUENCE)) {
    if (match.length < 4 || match.length > MAX_SEQUENCE_CHARACTERS) continue;
    const groups = [...match.matchAll(GROUP)].map(({ 0: digits, index: at }) => ({
      start: index + at,
      end: index + at + digits.length,
      text: digits,
    }));
    sequences.push({ start: index, end: index + match.length, groups });
  }
  return sequences;
}

/** Whether the characters before and after a range belong to the same word or number. */
export function standsAlone(text: string, start: number, end: number): boolean {
  return !isWordBefore(text, start) && !isWordCharacter(text.charCodeAt(end));
}

/** Whether a word ends right before a place. The letter of an escape such as `\n` in a quoted text is none. */
export function isWordBefore(text: string, start: number): boolean {
  if (start === 0 || !isWordCharacter(text.charCodeAt(start - 1))) return false;
  return !isEscape(text, start - 1);
}

/** Whether the character is the letter of `\n`, `\r` or `\t` in a quoted text. */
export function isEscape(text: string, index: number): boolean {
  return index > 0 && text[index - 1] === "\\" && "nrt".includes(text[index] ?? "-");
}

function isWordCharacter(code: number): boolean {
  return (
    (code >= 48 && code <= 57) ||
    (code >= 65 && code <= 90) ||
    (code >= 97 && code <= 122) ||
    code === 95 ||
    (code >= 0xc0 && code <= 0x24f)
  );
}

/** Whether digits pass the check of Luhn (ISO/IEC 7812-1). */
export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    let digit = digits.charCodeAt(digits.length - 1 - index) - 48;
    if (index % 2 === 1) digit = digit > 4 ? digit * 2 - 9 : digit * 2;
    sum += digit;
  }
  return sum % 10 === 0;
}

/** A text without certain characters at its end. */
export function withoutEnding(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? "")) end -= 1;
  return text.slice(0, end);
}
