import type { Finding } from "./types.ts";

/** Digits as no detector needs to know them. */
const MANY_DIGITS = /\d(?:\D{0,3}\d){6}/;
const MOMENTS = /\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?/g;
/** The end of an address of email, and a letter alone: cells of what may be split. */
const SPLIT_CELL = /^@?[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}$|^[^\s\d]$/;
const MIN_SPLIT_DIGITS = 6;

/** One of values that stand beside each other, in a list or an object. */
export type Cell = string | number;

/** Whether cells beside each other may be parts of a value. */
export function mayBeSplit(cells: readonly Cell[]): boolean {
  let digits = 0;
  for (const cell of cells) {
    const text = String(cell);
    if (SPLIT_CELL.test(text)) return true;
    digits = /^[\d\s()+.-]{1,6}$/.test(text) ? digits + text.length : 0;
    if (digits > text.length && digits > MIN_SPLIT_DIGITS) return true;
  }
  return false;
}

/** Whether a text has more than what was found in it that may be a value in another form. */
export function mayHoldMore(text: string, found: readonly Pick<Finding, "start" | "end">[]): boolean {
  if (!MANY_DIGITS.test(text)) return false;
  let rest = "";
  let from = 0;
  for (const { start, end } of found) {
    rest += `${text.slice(from, start)}    `;
    from = end;
  }
  return MANY_DIGITS.test((rest + text.slice(from)).replace(MOMENTS, "    "));
}
