import { before, hasWord, namesThing, wordSet } from "../context.ts";
import { digitSequences, isWordBefore, passesLuhn } from "../digits.ts";
import type { DigitGroup } from "../digits.ts";
import type { Detector, Finding } from "../types.ts";

/** Beginnings of card numbers and their lengths, by brand. */
const BRANDS: readonly (readonly [RegExp, readonly number[]])[] = [
  [/^4/, [13, 16, 19]], // Visa
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]], // Mastercard
  [/^3[47]/, [15]], // American Express
  [/^(?:30[0-5]|309|36|3[89])/, [14, 16, 19]], // Diners Club
  [/^(?:6011|64[4-9]|65)/, [16, 19]], // Discover
  [/^35(?:2[89]|[3-8])/, [16, 19]], // JCB
  [/^(?:1800|2131)/, [15]], // JCB
  [/^62/, [16, 17, 18, 19]], // UnionPay
  [/^(?:50|5[6-9]|6[0-9])/, [12, 13, 14, 15, 16, 17, 18, 19]], // Maestro, RuPay, Elo, Hipercard, Dankort, Verve
  [/^220[0-4]/, [16, 17, 18, 19]], // Mir
  [/^(?:8[12])/, [16]], // RuPay, UnionPay
  [/^9792/, [16]], // Troy
];
/** Beginnings that only count where words speak of a card: UATP, and ranges of JCB that are not in use. */
const RARE = /^(?:1\d{14}|35\d{14})$/;
/** Brands whose beginnings say little: without a word that says so, only the usual lengths count. */
const UNUSUAL_LENGTHS: ReadonlySet<number> = new Set([12, 13, 14, 17, 18]);
const MAX_GROUPS = 6;
const CONTEXT = wordSet(
  "card cards cc credit debit visa mastercard amex american discover diners jcb unionpay maestro pan creditcard cardnumber ccn billed payment",
);
const SEPARATORS = /^[ \u00A0-]$/;

/** Finds numbers of payment cards of all brands by beginning, length and the check of Luhn. */
export const creditCardDetector: Detector = {
  find(text, key) {
    const found: Finding[] = [];
    for (const { groups } of digitSequences(text)) {
      for (let index = 0; index < groups.length;) {
        const length = groupsOfCard(text, groups, index, key);
        const last = groups[index + length - 1];
        const first = groups[index];
        if (length > 0 && first && last)
          found.push({ start: first.start, end: last.end, type: "CREDIT_CARD" });
        index += Math.max(1, length);
      }
    }
    return found;
  },
};

/** How many groups from one on make a card's number: 0 where none does. */
function groupsOfCard(
  text: string,
  groups: readonly DigitGroup[],
  from: number,
  key: string | undefined,
): number {
  const first = groups[from];
  if (first === undefined || isWordBefore(text, first.start) || isFraction(text, first.start)) return 0;
  let digits = "";
  let separator: string | undefined;
  for (let count = 1; count <= MAX_GROUPS; count += 1) {
    const group = groups[from + count - 1];
    if (group === undefined) return 0;
    if (count > 1) {
      const between = text.slice(groups[from + count - 2]?.end, group.start);
      separator ??= between;
      if (between !== separator || !SEPARATORS.test(between)) return 0;
    }
    digits += group.text;
    if (digits.length > 19) return 0;
    if (digits.length < 12 || !(hasBrand(digits) || RARE.test(digits)) || !passesLuhn(digits)) continue;
    if (!isGrouped(groups.slice(from, from + count))) continue;
    if (
      !/^[\d_a-z]|^[.,]\d/i.test(text.slice(group.end, group.end + 2)) &&
      isMeant(text, first.start, digits, count, key)
    )
      return count;
  }
  return 0;
}

function isFraction(text: string, start: number): boolean {
  return /\p{L}[-/]$|[\d.,$€£][.,$€£]$|[$€£]$|\d[.,]$/u.test(text.slice(Math.max(0, start - 2), start));
}

/** Groups as printed on cards: four digits first, none of one digit. */
function isGrouped(groups: readonly DigitGroup[]): boolean {
  if (groups.length === 1) return true;
  return (
    groups.length <= 5 &&
    groups.every(({ text }, index) => (index === 0 ? text.length === 4 : text.length >= 2))
  );
}

function isMeant(
  text: string,
  start: number,
  digits: string,
  groups: number,
  key: string | undefined,
): boolean {
  const words = before(text, start, key);
  if (hasWord(words, CONTEXT)) return true;
  if (!hasBrand(digits)) return false;
  if (groups === 1 && namesThing(words)) return false;
  return !UNUSUAL_LENGTHS.has(digits.length) || /^(?:36|30|38|39|4)/.test(digits);
}

function hasBrand(digits: string): boolean {
  if (/^(\d)\1+$/.test(digits)) return false;
  return BRANDS.some(([beginning, lengths]) => lengths.includes(digits.length) && beginning.test(digits));
}
