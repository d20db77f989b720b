/** Decimal digits that a double holds for certain. */
const CERTAIN_DIGITS = 15;
/** Minimum number of characters saved: a smaller saving is not noise but the number itself, such as 1/3. */
const MIN_SAVED_CHARACTERS = 3;

/**
 * Rounds a number for people, who expect 0.3 of `0.1 + 0.2` and 124.95 of `3 * 41.65`: to 15 significant digits where
 * that leaves at least three characters out. Whole numbers and all others stay as they are. For what is shown, and not
 * for what is passed on.
 */
export function readableNumber(value: number): number {
  if (!Number.isFinite(value) || Number.isInteger(value)) return value;
  const rounded = Number(value.toPrecision(CERTAIN_DIGITS));
  return String(value).length - String(rounded).length >= MIN_SAVED_CHARACTERS ? rounded : value;
}

/** Writes a text as one word of a shell's command. */
export function shellWord(text: string): string {
  return /^[\w./@:-]+$/u.test(text) && !text.startsWith("-")
    ? text
    : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
