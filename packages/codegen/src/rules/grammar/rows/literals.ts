import type { JsonValue } from "@cem/core";
import {
  AGGREGATES,
  COMPARATIVES,
  COMPARATORS,
  EQUALITIES,
  EXTREMES,
  HIGHER,
  isStopWord,
  MONTHS,
  SUPERLATIVES,
  UNITS,
} from "@cem/text";
import type { Token } from "../../language/token.ts";
import type { Cursor } from "./cursor.ts";

/** Words between the capitalised words of a name: `Rio de Janeiro`. */
export const PARTICLE = /^(?:de|da|del|do|la|los|las|le|of|am|an|der|van|von|sur|upon)$/u;
/** Words of time that need a calendar, and words of an order: none of them is a value. */
const NO_VALUE =
  /^(?:last|next|this|past|previous|current|today|yesterday|tomorrow|week|weeks|month|months|year|years|day|days|first|second|third|same|there|then|set|empty|missing|null|present|sorted|ordered|grouped|limited|twice|thrice|descending|ascending|existing|asc|desc|least|highest|lowest|given|placed)$/u;
/** Words of the grammar itself. */
const MEANT = [AGGREGATES, COMPARATIVES, SUPERLATIVES, EXTREMES, HIGHER, COMPARATORS, EQUALITIES];
const CURRENCY: Readonly<Record<string, string>> = { $: "USD", "€": "EUR", "£": "GBP" };

/** A value of a condition: what is quoted, a number, a name, or one plain word. */
export function takeValue(cursor: Cursor): { value: JsonValue } | undefined {
  const minus = cursor.attempt(() => {
    if (!cursor.is("-|minus")) return undefined;
    const number = cursor.take((token) => token.kind === "number");
    return number && { value: -(number.value as number) };
  });
  if (minus !== undefined) return minus;
  const token = cursor.take((one) => /^(?:number|quote)$/u.test(one.kind));
  if (token !== undefined) return { value: token.value ?? null };
  const plain = cursor.take((one) => /^(?:date|email|tag|url)$/u.test(one.kind));
  if (plain !== undefined) return { value: plain.text };
  const constant = cursor.one("true|false|null");
  if (constant !== undefined) return { value: constant === "null" ? null : constant === "true" };
  const name = takeName(cursor) ?? takeWord(cursor);
  return name === undefined ? undefined : { value: name };
}

/** A letter that would be a small word: `starts with A`. */
export function takeLetter(cursor: Cursor): string | undefined {
  const last = cursor.span.at(-1);
  if (last === undefined || !/^\p{Lu}$/u.test(last.text) || cursor.at >= cursor.span.to) return undefined;
  cursor.at = cursor.span.to;
  return last.text;
}

/** Capitalised words: `New York`. */
export function takeName(cursor: Cursor): string | undefined {
  const run = cursor.run(
    (token) => token.kind === "word" && (isCapital(token) || PARTICLE.test(token.lower)),
    6,
  );
  const [first] = run;
  if (first === undefined || !isCapital(first)) return undefined;
  const length = run.findLastIndex((token) => isCapital(token)) + 1;
  cursor.accept(length);
  return cursor.span.source.slice(first.start, run[length - 1]?.end);
}

function isCapital(token: Token): boolean {
  return /^\p{Lu}/u.test(token.text);
}

/** One plain word that can be a value. */
export function takeWord(cursor: Cursor): string | undefined {
  return cursor.take((token) => token.kind === "word" && isPlainWord(token.lower))?.text;
}

export function isPlainWord(word: string): boolean {
  return (
    !isStopWord(word) &&
    !NO_VALUE.test(word) &&
    !MEANT.some((phrases) => Object.hasOwn(phrases, word)) &&
    /^[\p{L}_]/u.test(word) &&
    word !== "'s"
  );
}

/** A number with its unit, or a value without one. */
export function takeAmount(cursor: Cursor): { value: number; unit?: string | undefined } | undefined {
  return cursor.attempt(() => {
    const sign =
      cursor.token?.lower === "-" || cursor.token?.lower === "minus" ? cursor.accept(1) : undefined;
    const token = cursor.take((one) => one.kind === "number");
    if (token === undefined) return undefined;
    const value = (sign === true ? -1 : 1) * (token.value as number);
    return { value, unit: CURRENCY[token.text.charAt(0)] ?? cursor.phrase(UNITS) };
  });
}

/** A year, a month of a year or a day, as `2024`, `2024-03` or `2024-03-01`. */
export function takeDate(cursor: Cursor): string | undefined {
  return cursor.attempt(() => {
    cursor.is("year");
    const day = cursor.take((token) => token.kind === "date");
    if (day !== undefined) return day.text;
    const first = takeDayOfMonth(cursor);
    const month = cursor.word(...MONTHS);
    const second = month !== undefined && first === undefined ? takeDayOfMonth(cursor) : undefined;
    cursor.attempt(() => (month === undefined ? undefined : cursor.one(",")));
    const year = cursor.take(
      (token) => token.kind === "number" && /^(?:19|20)\d{2}$/u.test(token.text),
    )?.text;
    if (year === undefined || (first !== undefined && month === undefined)) return undefined;
    const pad = (part: number): string => String(part).padStart(2, "0");
    if (month === undefined) return `${year}${takeParts(cursor)}`;
    const dayOfMonth = first ?? second;
    return `${year}-${pad(MONTHS.indexOf(month) + 1)}${dayOfMonth === undefined ? "" : `-${pad(dayOfMonth)}`}`;
  });
}

function takeDayOfMonth(cursor: Cursor): number | undefined {
  const day = cursor.take(
    (token) => /^(?:[12]?\d|3[01])(?:st|nd|rd|th)?$/u.test(token.lower) && token.kind !== "quote",
  );
  return day === undefined ? undefined : Number.parseInt(day.lower, 10);
}

/** `-03` behind a year. */
function takeParts(cursor: Cursor): string {
  const [sign, month] = cursor.run(() => true, 2);
  const isMonth =
    sign?.lower === "-" &&
    month !== undefined &&
    sign.end === month.start &&
    /^(?:0[1-9]|1[0-2])$/u.test(month.text);
  return isMonth && cursor.accept(2) ? `-${month.text}` : "";
}

/** The last day that belongs to a year or a month. */
export function lastDayOf(date: string): string {
  if (date.length === 4) return `${date}-12-31`;
  return date.length === 7 ? `${date}-31` : date;
}
