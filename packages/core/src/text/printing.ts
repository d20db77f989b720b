/** Decimal digits that a double always preserves. */
const CERTAIN_DIGITS = 15;
/** Minimum number of characters saved: with a smaller saving, the digits are not noise but the number itself, such as 1/3. */
const MIN_SAVED_CHARACTERS = 3;

/**
 * Rounds a number for people, who expect 0.3 for `0.1 + 0.2` and 124.95 for `3 * 41.65`: to 15 significant digits if
 * that saves at least three characters. Other numbers, and all integers, stay unchanged. For display only.
 */
export function readableNumber(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  const rounded = Number(value.toPrecision(CERTAIN_DIGITS));
  return String(value).length - String(rounded).length >= MIN_SAVED_CHARACTERS ? rounded : value;
}

/** Quotes a text as one word of a shell command. */
export function shellWord(text: string): string {
  return /^[\w./@:-]+$/u.test(text) && !text.startsWith("-")
    ? text
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
