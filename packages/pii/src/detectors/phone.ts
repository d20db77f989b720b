import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import type { CountryCode } from "libphonenumber-js/min";
import {
  after,
  byKey,
  endsWith,
  hasWord,
  isWordBefore,
  labelOf,
  lastClause,
  namesThing,
  PHONE_EXTENSION,
  PHONE_KEYS,
  rightBefore,
  SAYS_PHONE,
  spaced,
  THINGS,
  wordSet,
} from "../context.ts";
import type { Detector, Finding } from "../context.ts";

const MIN_DIGITS = 7;
const MAX_DIGITS = 15;
const MOBILE_DIGITS = 10;
const SURE_DIGITS = 9;
/**
 * At least seven digits, not followed by a date or a time. An ungrouped number such as `+4915112345678` ends with its first group.
 */
const CANDIDATE =
  /[+(]{0,2}(?=\d(?:[ ./()-]{0,2}\d){6})(?:(?<=\+)\d{10,15}(?!\d)|\d+(?:[ ./()-]{1,2}(?!(?:\d{4}-\d\d-|\d\d?:)\d\d|(?<= )\d\d?([./])\d\d?\1(?:19|20)\d\d(?!\d))\d+)*)(?: ?(?:x|ext\.? ?|extension )\d{1,6})?/gi;
/** The longest number with two separators before each of its groups. */
const MAX_CHARACTERS = 40;
/** Each possible end of an international number costs a call of the library. */
const MAX_ENDS = 4;
const DATE =
  /^(?:(?:19|20)\d\d([-./ ])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12]\d|3[01])|(?:0?[1-9]|[12]\d|3[01])([-./ ])(?:0?[1-9]|[12]\d|3[01])\2(?:19|20)\d\d)(?!\d)/;
const NORTH_AMERICAN = /^(?:1[-. ])?(?:\([2-9]\d{2}\) ?|[2-9]\d{2}[-. ])[2-9]\d{2}[-. ]\d{4}$/;
/** A North American number inside a longer candidate. Spaces alone also separate other numbers. */
const NORTH_AMERICAN_PART =
  /(?<=^|[ /(])(?:1[-. ])?(?:\([2-9]\d{2}\) ?[2-9]\d{2}[-. ]|[2-9]\d{2}([-.])[2-9]\d{2}\1)\d{4}(?=$|[ /)]|\. )/g;
const SINGLE_DIGITS = /^\d{1,2}(?:[ -]\d{1,2}){4,}$/;
/** Five pairs of digits. */
const FRENCH = /^0[1-9](?:[ .-]\d{2}){4}$/;
/** With `+` or `00`, but not a short code that is padded with zeros. */
const INTERNATIONAL = /^\(?(?:\+|00(?:[1-9]\d{8}|[1-9]\d{0,2}[ .-]|[ .-][1-9]))/;
/** A signed difference, as in the statistics of a commit: `+4344 -6616`. */
const DIFFERENCE = /^\+\d+ -\d+$/;
const WITH_EXIT_CODE = /^00(?:[1-9]\d{0,2}[-. ]\d|[-. ][1-9])/;
/** A country code followed by groups, but not thousands groups: `+10 000 000 users`. */
const WITH_CODE = /^\(?\+\d{1,3}\)?(?=[ (-])(?!(?: \d{3})+$)/;
/** A country code that is a group of its own, with no fraction after it. */
const CODE_GROUP = /^\(?(?:\+|00(?=[1-9]))\d{1,3}\)?(?:[ (-]|\.\d{1,4}\.\d)/;
const MAX_LINE_CHARACTERS = 120;
/** A line that was added to a table of numbers, in the output of `diff`, also in a quoted text. */
const ADDED_NUMBERS = /(?:^|\n|\\n)\+\d+(?:\.\d+)?(?: {1,2}\d+(?:\.\d+)?){1,40} ?(?:[\r\n]|\\[rn]|$)/;
/** Words before numbers that look like phone numbers but are not. */
const NOT_CALLED = new Set([
  ...THINGS,
  ...wordSet(
    `booking confirmation account acct policy claim item membership reservation registration meter konto kontonummer blz
    kdnr kundennummer artikel siren siret abn acn duns erc ikea contract scores waybill`,
  ),
]);
const NOT_CALLED_BY_NUMBER =
  /(?:customer|member|client|meeting|conference|event|webinar|receipt|identification|employee|student|loan|badge|file|docket|report|vendor|supplier|store|terminal|che(?:ck|que)|tax|flight|room|seat|product|catalog|bed|deposit|gate|house|block|patient|contract)[ _-]?(?:no|nr|number)\W{1,3}(?:\([a-z]{2,6}\)\W{1,2})?(?:is )?$/;
/** Phrases such as `my number` in other languages, which refer to a phone number. */
const SAYS_OWN_NUMBER =
  /(?<!\p{L})(?:mein|dein|ihr|unser|mon|ton|votre|mi|tu|su|mio|tuo|suo|mijn|jouw|mój|meu|seu)e?[nr]? (?:\(?\p{L}{2,10}\)? )?(?:nummer|n[uú]m[eé]ro|numer)(?! d)(?: \p{L}{1,4}){0,3}\W{0,3}$/u;
/** A number as such: `the number 55436096`. */
const SAYS_NUMBER = /(?<!\p{L})(?:the|a) number$/u;
/** A DOI: `10.1016/j.cell.2019.05.031`. */
const DOI = /10\.\d{4,9}\/\S{0,40}$/;
/** A fraction, or dotted groups with an inner single digit, as in versions. */
const VERSION = /^(?!0\d)\d+\.\d+$|^(?=[\d.]+$).*\.\d\./;
/** Unlike a fraction, this may be a phone number: `06.12345583`. */
const ZERO_AND_DOT = /^0\d+\.\d+$/;
/** A vCard property (RFC 6350) with its parameters. */
const CARD_PROPERTY = /(?:^|\n)tel;[^:\n]{1,40}:$/;
/** Countries with the trunk prefix 0 in national format. */
const TRUNK_ZERO = new Set(
  "AE AR AT AU BD BE BG CH CN DE EG FI FR GB HR HU ID IE IL IN IT JP KE KR LT LU MA MY NG NL NZ PH PK RO RS SA SE SI SK TH TR TW UA VN ZA".split(
    " ",
  ),
);
/** Those of them with numbers that have no 0, such as mobile ones. */
const NOT_ALWAYS_ZERO = new Set(["CN", "IN", "IT"]);
/** Groups of numbers without a leading 0: at least three with one separator, an area code in brackets, five digits, two groups of four, a mobile number in two groups, or a hyphen before the last four. */
const GROUPED =
  /^\d{2,4}([ .-])\d{2,4}(?:\1\d{2,4})+$|^(?:8 )?\(\d{1,3}\)|^[6-9]\d{4}[ -]\d{5}$|^[5689]\d{3} \d{4}$|^3\d{2}[ /-]\d{6,7}$|^\d{2}[ -]9?\d{4}-\d{4}$/;
/** The kind of a number after it: `(03) 5327 5996 office`. */
const SAYS_PHONE_AFTER = /^[ \-(,|]{1,2}(?:office|fax|mobile|cell|home|work|desk|landline|phone|tel)\b/;
const MONEY_BEFORE = /[$€£¥#]\s?$|\d[.:]$/;
/** Letters of scripts written without spaces do not continue a number. */
const MONEY_AFTER =
  /^(?:\s?(?:%|€|usd|eur|gbp|kg|km|ms|bytes|kb|mb|gb|°| times\b)|:\d|\.\d|[_@=]|(?![\p{sc=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}])\p{L})/u;

/** Whether a key names a phone number. */
export const isPhoneKey = byKey((key) => hasWord(spaced(key).toLowerCase(), PHONE_KEYS));

/**
 * Creates a detector of phone numbers: international ones, national ones of the given regions, and others identified by words.
 *
 * @param regions - Countries whose numbers are found in national format, as ISO codes. Default: US.
 */
export function createPhoneDetector(regions: readonly string[] = ["US"]): Detector {
  const isKnown = (number: string, region?: string): boolean =>
    parsePhoneNumberFromString(number, region as CountryCode | undefined)?.isValid() === true;
  const isKnownAbroad = (number: string): boolean =>
    isKnown(number.replace(/^\(?00[ .-]?(?=[1-9])/, "+").replace("(0)", ""));

  /** Splits a candidate that is more than one number: the valid beginning with a country code, and North American numbers. */
  const partsOf = (written: string, mayGoOn: () => boolean): Part[] => {
    const whole = { start: 0, end: written.length, isSure: false };
    if (NORTH_AMERICAN.test(written)) return [whole];
    const parts: Part[] = [];
    const ends = INTERNATIONAL.test(written) ? endsOf(written) : [];
    const known = ends.find(
      (end) => (end === written.length || mayGoOn()) && isKnownAbroad(written.slice(0, end)),
    );
    if (known !== undefined) parts.push({ start: 0, end: known, isSure: true });
    else if (ends.length > 0 && ends[0] === written.length) return [whole];
    if (written.length - (known ?? 0) >= "404-423-8469".length)
      for (const { 0: part, index: start } of written.matchAll(NORTH_AMERICAN_PART))
        if (start >= (known ?? 0)) parts.push({ start, end: start + part.length, isSure: false });
    return parts.length === 0 ? [whole] : parts;
  };

  /** @param number - The number without its extension. */
  const isPhone = (
    text: string,
    { start, end, number, digits, isSure }: Part & { number: string; digits: number },
    key: string | undefined,
  ): boolean => {
    const hasCode = number.startsWith("+") || number.startsWith("(+");
    const isUnderPhone = key !== undefined && isPhoneKey(key);
    if (!hasCode && (DATE.test(number) || (!isUnderPhone && VERSION.test(number)))) return false;
    const words = rightBefore(text, start);
    const rest = after(text, end);
    const mayJoin = hasCode && isSure && digits >= 10;
    if (MONEY_BEFORE.test(words.slice(-3)) && !(mayJoin && words.endsWith(":"))) return false;
    // After a number with a country code, `_` belongs to a file name or Markdown.
    const isJoined = (rest.startsWith("_") && INTERNATIONAL.test(number)) || (mayJoin && /^[:=@]/.test(rest));
    if (!isJoined && MONEY_AFTER.test(rest)) return false;
    // A comma next to plain digits belongs to a fraction or thousands groups.
    const isPlain = !/\D/.test(number);
    const isAmount = isPlain || /^00[. ]/.test(number);
    if (isAmount && (/\d,$/.test(words.slice(-2)) || /^,\d/.test(rest))) return false;
    if (!hasCode && DOI.test(words)) return false;
    const label = labelOf(text, start);
    const isOfThing = namesThing(words, NOT_CALLED) || (label !== "" && endsWith(label, NOT_CALLED));
    if (!hasCode && (isOfThing || /\p{L}[-/#]$|#$/u.test(words.slice(-3)))) return false;
    const clause = lastClause(words);
    // Digits alone may be a count, as in "mobile sessions: 12345678".
    const isFigure = isPlain && (digits < SURE_DIGITS || /[:=]\s*$/.test(clause));
    const says = isFigure ? endsWith : hasWord;
    const isLabelled = label !== "" && (says(label, PHONE_KEYS) || CARD_PROPERTY.test(words));
    const saying = isPlain ? clause.replace(SAYS_NUMBER, "") : clause;
    const isSaid = isLabelled || says(saying, SAYS_PHONE) || SAYS_OWN_NUMBER.test(clause);
    const isNamed = isUnderPhone || isSaid || SAYS_PHONE_AFTER.test(rest);
    if (!isNamed && ZERO_AND_DOT.test(number)) return false;
    if (hasCode) return isNamed || (isSure && !DIFFERENCE.test(number)) || WITH_CODE.test(number);
    const isFrench = FRENCH.test(number) && (isNamed || regions.includes("FR"));
    if (SINGLE_DIGITS.test(number) && !isFrench && !(isNamed && (isSure || isKnown(`+${number}`))))
      return false;
    if (key !== undefined && endsWith(spaced(key).toLowerCase(), NOT_CALLED)) return false;
    if (isNamed && NOT_CALLED_BY_NUMBER.test(words)) return false;
    if (isNamed)
      return digits > MIN_DIGITS || /\D/.test(number) || isUnderPhone || /phone|t[eé]l|call/.test(words);
    if (NORTH_AMERICAN.test(number) || WITH_EXIT_CODE.test(number)) return digits >= 10;
    if (/^00[1-9]\d{8,12}$/.test(number)) return isSure;
    const hasZero = /^\(?0/.test(number);
    if (!hasZero && !GROUPED.test(number)) return false;
    return (
      /\d[ ().-]{1,2}\d|^\d{2,5}\/\d+(?:[ -]\d+)*$/.test(number) &&
      regions.some(
        (region) =>
          (hasZero === TRUNK_ZERO.has(region) ||
            (!hasZero && digits >= MOBILE_DIGITS && NOT_ALWAYS_ZERO.has(region))) &&
          (region !== "IN" || digits === MOBILE_DIGITS + Number(hasZero)) &&
          (region !== "IT" || digits >= SURE_DIGITS) &&
          // US numbers of three groups were found above.
          (region !== "US" || number.startsWith("(")) &&
          isKnown(number, region),
      )
    );
  };

  return {
    find(text, key) {
      const found: Finding[] = [];
      for (const { 0: match, index } of text.matchAll(CANDIDATE)) {
        const written = /[a-z]/i.test(match) ? match.replace(PHONE_EXTENSION, "") : match;
        for (const part of partsOf(written, () => mayGoOn(text, index, written, key))) {
          // An unclosed bracket encloses the number and more.
          if (part.end - part.start > MAX_CHARACTERS) continue;
          const plain = written.slice(part.start, part.end);
          const number = plain.includes(")") ? plain : plain.replace(/^\(/, "");
          const digits = number.replace(/\D/g, "").length;
          if (digits < MIN_DIGITS || digits > MAX_DIGITS) continue;
          const start = index + part.end - number.length;
          const end = index + (part.end === written.length ? match.length : part.end);
          if (isWordBefore(text, start) || (text[start - 1] === "_" && !INTERNATIONAL.test(number))) continue;
          if (isPhone(text, { start, end, digits, number, isSure: part.isSure }, key))
            found.push({ start, end, type: "PHONE" });
        }
      }
      return found;
    },
  };
}

/** A part of a candidate. */
interface Part {
  start: number;
  end: number;
  /** Whether it is valid with its country code. */
  isSure: boolean;
}

/** Whether a number with a country code may be followed by others. A valid beginning of other numbers may be chance: `+817842 658618 329186`. */
function mayGoOn(text: string, start: number, written: string, key = ""): boolean {
  const line = text.slice(Math.max(0, start - 2), start + MAX_LINE_CHARACTERS);
  if (CODE_GROUP.test(written) && !ADDED_NUMBERS.test(line)) return true;
  return isPhoneKey(key) || hasWord(lastClause(rightBefore(text, start)), SAYS_PHONE);
}

/** Where a number with a country code may end, the longest first. */
function endsOf(written: string): number[] {
  const ends: number[] = [];
  let digits = 0;
  for (const { 0: group, index } of written.slice(0, MAX_CHARACTERS + 1).matchAll(/\d+/g)) {
    const end = index + group.length;
    digits += group.length;
    if (digits > MAX_DIGITS) break;
    if (
      end === written.length ||
      (digits >= SURE_DIGITS && /^(?:[ /]|\. )/.test(written.slice(end, end + 2)))
    )
      ends.unshift(end);
  }
  return ends.slice(0, MAX_ENDS);
}
