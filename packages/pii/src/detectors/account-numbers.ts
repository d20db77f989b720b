import { luhnChecksumValidate, mod97base10Validate, weightedSum } from "stdnum/lib/cjs/util/checksum.js";
import {
  BEFORE_IBAN,
  before,
  byKey,
  digitSequences,
  endsWith,
  hasWord,
  isWordBefore,
  isWordCharacter,
  lastClause,
  namesThing,
  spaced,
  standsAlone,
  wordSet,
} from "../context.ts";
import { PHONE_KEYS, SAYS_PHONE } from "./phone-words.ts";
import type { Detector, DigitGroup, Finding } from "../context.ts";

/** Prefixes and lengths of card numbers, by brand. */
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
/**
 * Prefixes that only count if words mention a card, or if the number is the whole text: UATP, and unused ranges of JCB.
 * Account numbers begin with 1000.
 */
const RARE = /^(?:1\d{14}|35\d{14})$/;
/** Unusual lengths, which only count if words mention a card. */
const UNUSUAL_LENGTHS: ReadonlySet<number> = new Set([12, 13, 14, 17, 18]);
const MAX_GROUPS = 6;
const CARD_CONTEXT = wordSet(
  `card cards cc credit debit visa mastercard amex american discover diners jcb unionpay maestro pan creditcard cardnumber ccn billed
  payment karte karten kartennummer kreditkarte kreditkarten kreditkartennummer bankkarte debitkarte girokarte carte cartes tarjeta
  tarjetas cartão cartao cartões carta kaart kaarten kaartnummer creditcardnummer betaalkaart karta karty kartą`,
);
/** Words before a card number, even of an unknown brand. */
const SAYS_CARD =
  /(?:(?:credit|debit|payment) ?card(?: (?:no|number|#))?|(?:kredit|debit)karten?(?:nummer)?|creditcardnummer|carte (?:bancaire|bleue|de crédit)|(?:tarjeta|cartão|carta) (?:de |di )?(?:crédito|débito|credito|debito)|kart[aąy] kredytow(?:a|ą|ej))\W{0,3}$/;
const SEPARATORS = /^[ -]$/;
/** Rare separators, which only count if words mention a card. */
const RARE_SEPARATORS = /^(?:\.| {2})$/;
/** A number, a date or the like in the previous cell, but not the integer part of a fraction. */
const CELL_BEFORE = /(?:^|[\n,"'])[\d +()./-]{1,20}(?<!(?:^|[\n,"'])0),$/;
const CELL_CHARACTERS = 22;
/** The beginning of the first track of a magnetic stripe. */
const STRIPE = /^%B$/;

/** Finds payment card numbers of all brands by prefix, length and Luhn check. */
export const creditCardDetector: Detector = {
  find(text, key) {
    const found: Finding[] = [];
    for (const groups of digitSequences(text)) {
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

/** How many groups from an index on form a card number, or 0. */
function groupsOfCard(
  text: string,
  groups: readonly DigitGroup[],
  from: number,
  key: string | undefined,
): number {
  const first = groups[from];
  if (first === undefined || isFraction(text, first.start)) return 0;
  if (isWordBefore(text, first.start) && !STRIPE.test(text.slice(0, first.start).slice(-2))) return 0;
  // After a plus sign that is not an encoded space, shorter numbers are phone numbers.
  const least = text[first.start - 1] === "+" && !isWordBefore(text, first.start - 1) ? 16 : 12;
  let digits = "";
  let separator: string | undefined;
  // A valid number may be the beginning of a longer one.
  let longest = 0;
  for (let count = 1; count <= MAX_GROUPS; count += 1) {
    const group = groups[from + count - 1];
    if (group === undefined) return longest;
    if (count > 1) {
      const between = text.slice(groups[from + count - 2]?.end, group.start);
      separator ??= between;
      const isRare = RARE_SEPARATORS.test(between) && hasWord(before(text, first.start, key), CARD_CONTEXT);
      if (between !== separator || !(isRare || SEPARATORS.test(between))) return longest;
    }
    digits += group.text;
    if (digits.length > 19) return longest;
    if (digits.length < least || !luhnChecksumValidate(digits)) continue;
    if (!hasBrand(digits) && !RARE.test(digits) && !SAYS_CARD.test(before(text, first.start, key))) continue;
    if (!isGrouped(groups.slice(from, from + count))) continue;
    if (
      !/^[\da-z]|^\.\d/i.test(text.slice(group.end, group.end + 2)) &&
      isMeant(text, first.start, digits, count, key)
    )
      longest = count;
  }
  return longest;
}

function isFraction(text: string, start: number): boolean {
  const nearby = text.slice(Math.max(0, start - CELL_CHARACTERS), start);
  if (CELL_BEFORE.test(nearby)) return false;
  return /\p{L}-$|[$€£]$|(?:^|\P{L})\.$|(?:^|\s)\d{1,12},$/u.test(nearby);
}

/** Groups as printed on cards: first four digits, and none of a single digit. */
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
  if (hasWord(words, CARD_CONTEXT)) return true;
  if (!hasBrand(digits)) return text === digits && key === undefined && !digits.startsWith("1000");
  // Plain digits in a path or a URI are mostly an id.
  if (groups === 1 && (namesThing(words) || /\p{L}\/$/u.test(words))) return false;
  if (!UNUSUAL_LENGTHS.has(digits.length)) return true;
  return /^(?:36|30|38|39|4)/.test(digits) && !isArticle(digits) && !hasWord(lastClause(words), PHONE_KEYS);
}

/** Whether a number may be an EAN of 13 digits; German ones begin with 4. */
function isArticle(digits: string): boolean {
  return digits.length === 13 && weightedSum(digits, { weights: [1, 3], modulus: 10 }) === 0;
}

function hasBrand(digits: string): boolean {
  if (/^(\d)\1+$/.test(digits)) return false;
  return BRANDS.some(([beginning, lengths]) => lengths.includes(digits.length) && beginning.test(digits));
}

/** Lengths of IBANs by country, from the SWIFT registry and for countries in partial use. */
const LENGTHS: Readonly<Record<string, number>> = Object.fromEntries(
  `AD24 AE23 AL28 AO25 AT20 AX18 AZ28 BA20 BE16 BF28 BG22 BH22 BI27 BJ28 BL27 BR29 BY28 CF27 CG27 CH21 CI28 CM27 CR22
  CV25 CY28 CZ24 DE22 DJ27 DK18 DO28 DZ26 EE20 EG29 ES24 FI18 FK18 FO18 FR27 GA27 GB22 GE22 GF27 GG22 GI23 GL18 GP27
  GQ27 GR27 GT28 GW25 HN28 HR21 HU28 IE22 IL23 IM22 IQ23 IR26 IS26 IT27 JE22 JO30 KM27 KW30 KZ20 LB28 LC32 LI21 LT20
  LU20 LV21 LY25 MA28 MC27 MD24 ME22 MF27 MG27 MK19 ML28 MN20 MQ27 MR27 MT31 MU30 MZ25 NC27 NE28 NI28 NL18 NO15 OM23
  PF27 PK24 PL28 PM27 PS29 PT25 QA29 RE27 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SN28 SO23 ST25 SV28 TD27
  TF27 TG28 TL23 TN24 TR26 UA29 VA22 VG24 WF27 XK20 YE30 YT27`
    .split(/\s+/)
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);
/** The shortest has 15 letters and digits. */
const BEGINNING = /[A-Z]{2}[ -]?\d{2}(?=(?:[ .-]?[A-Z\d]){11})|[a-z]{2}\d{2}(?=(?:[ .-]?[a-z\d]){11})/g;

/** Finds international bank account numbers by country, length and checksum (ISO 13616). */
export const ibanDetector: Detector = {
  find(text) {
    const found: Finding[] = [];
    let least = 0;
    for (const { 0: beginning, index: start } of text.matchAll(BEGINNING)) {
      const isJoined =
        isWordBefore(text, start) && !BEFORE_IBAN.test(text.slice(Math.max(0, start - 4), start));
      if (start < least || isJoined) continue;
      const length = LENGTHS[beginning.slice(0, 2).toUpperCase()];
      if (length === undefined) continue;
      const end = endOf(text, start, length, /^[a-z]/.test(beginning) ? /[a-z\d]/ : /[A-Z\d]/);
      if (end === undefined || isWordCharacter(text.charCodeAt(end))) continue;
      const iban = text.slice(start, end).replace(/[ .-]/g, "").toUpperCase();
      if (!mod97base10Validate(iban.slice(4) + iban.slice(0, 4))) continue;
      found.push({ start, end, type: "IBAN" });
      least = end;
    }
    return found;
  },
};

/** The end of a number of letters and digits with single separators. */
function endOf(text: string, start: number, length: number, character: RegExp): number | undefined {
  let index = start;
  for (let count = 0; count < length; count += 1) {
    if (count > 0 && (text[index] === " " || text[index] === "-" || text[index] === ".")) index += 1;
    if (!character.test(text[index] ?? "")) return undefined;
    index += 1;
  }
  return index;
}

const SHAPE = /\d{3}(?:(?<separator>[- .])\d{2}\k<separator>\d{4}|-\d{6}|\d{2}-\d{4}|\d{6})(?!\d)/g;
/** The end of a clause with a generic id. */
const ID_ALONE = /(?:tax[ -]?|^\W*)id\W*$/;
const SSN_CONTEXT = wordSet("ssn ssns social taxpayer itin tin");
/** Whether a key names such a number. */
export const isSsnKey = byKey((key) => hasWord(spaced(key).toLowerCase(), SSN_CONTEXT));
/** Numbers that were used in advertisements and are invalid. */
const ADVERTISED: ReadonlySet<string> = new Set(["078051120", "219099999"]);
const SEQUENCES: ReadonlySet<string> = new Set(["123456789", "987654321"]);
/** Words before room and seat numbers, which may be followed by a house number. */
const PLACES = wordSet(
  "suite ste apt apartment unit room rm floor fl box flat building bldg gate locker aisle bin shelf seat flight bus",
);
/** Another group of digits, as in a table or a list of dimensions, but not another number of this form. */
const GROUP_BEFORE = /(?<!\d{3} \d{2} \d{3})\d $/;
const GROUP_AFTER = /^ (?!\d{3} \d{2} \d{4})\d/;
const NUMBER_CHARACTERS = 12;
const ZIP_CODE = /^\s*\d{5}-\d{4}\s*$/;
const MAX_LIST_CHARACTERS = 64;

/** Finds US social security numbers. Nine digits without separators need a telling word. */
export const ssnDetector: Detector = {
  find(text, key) {
    const found: Finding[] = [];
    for (const { 0: match, index: start } of text.matchAll(SHAPE)) {
      const end = start + match.length;
      if (!standsAlone(text, start, end) || !isIssued(match.replace(/\D/g, ""))) continue;
      if (joinsNumber(text, start, end) || isOfThing(before(text, start))) continue;
      // Only hyphens or spaces in the right places are distinctive.
      const isPlain = !/^\d{3}([- ])\d{2}\1/.test(match);
      const words = before(text, start, key);
      // Phone numbers have such groups too, though not with hyphens.
      if (match[3] !== "-" && hasWord(lastClause(words), SAYS_PHONE) && !hasWord(words, SSN_CONTEXT))
        continue;
      if (!match.includes("-") && !hasWord(words, SSN_CONTEXT) && isOneOfMany(text, start, end, words))
        continue;
      if (isPlain && SEQUENCES.has(match)) continue;
      if (isPlain && !hasWord(words, SSN_CONTEXT) && !isAlone(text, key)) continue;
      found.push({ start, end, type: "SSN" });
    }
    return found;
  },
};

export function isOfThing(words: string): boolean {
  const clause = lastClause(words);
  return namesThing(words) && !hasWord(clause, SSN_CONTEXT) && !ID_ALONE.test(clause);
}

/** Whether groups separated by spaces belong to an address or a longer sequence of groups. */
function isOneOfMany(text: string, start: number, end: number, words: string): boolean {
  return (
    endsWith(words, PLACES) ||
    GROUP_BEFORE.test(text.slice(Math.max(0, start - NUMBER_CHARACTERS), start)) ||
    GROUP_AFTER.test(text.slice(end, end + NUMBER_CHARACTERS))
  );
}

/** Whether a text without a key consists only of such numbers. */
function isAlone(text: string, key: string | undefined): boolean {
  return (
    key === undefined &&
    !ZIP_CODE.test(text) &&
    text.length <= MAX_LIST_CHARACTERS &&
    /^(?:\d{3}[- .]?\d{2}[- .]?\d{4}[\s,;]*)+$/.test(text)
  );
}

/** Whether the number is part of a longer one. */
function joinsNumber(text: string, start: number, end: number): boolean {
  return (
    /[\p{L}\d)][-.+]$|[\d)]\/$/u.test(text.slice(Math.max(0, start - 2), start)) ||
    /^[-./]\d/.test(text.slice(end, end + 2))
  );
}

function isIssued(digits: string): boolean {
  const area = digits.slice(0, 3);
  return (
    !ADVERTISED.has(digits) &&
    area !== "000" &&
    area !== "666" &&
    area < "900" &&
    digits.slice(3, 5) !== "00" &&
    digits.slice(5) !== "0000"
  );
}
