import { parsePhoneNumberFromString, type CountryCode } from "libphonenumber-js/min";
import { around, hasWord, isWordBefore, PHONE_EXTENSION, wordSet } from "../context.ts";
import type { Detector, Finding } from "../context.ts";
import { isNamed, isOfThing, isPhoneKey, SAYS_PHONE, SURE_DIGITS, type NumberInText } from "./phone-words.ts";

const MIN_DIGITS = 7;
const MAX_DIGITS = 15;
const MOBILE_DIGITS = 10;
/**
 * At least seven digits, not followed by a date or a time. An ungrouped number such as `+4915112345678` ends with its first
 * group. Spaces around a slash or hyphen only follow an area code, since elsewhere they separate numbers: `0221 / 765 43 21`.
 */
const CANDIDATE =
  /[+(]{0,2}(?=\d(?:[ ./()-]{0,4}\d){6})(?:(?<=\+)\d{10,15}(?!\d)|(?:(?:0\d{1,4}|(?<=\+)\d{1,3} (?:[/-] |\(0\) ?)?\(?\d{2,5})\)? [/-] (?=[1-9]))?\d+(?:[ ./()-]{1,2}(?!(?:\d{4}-\d\d-|\d\d?:)\d\d|(?<= )\d\d?([./])\d\d?\1(?:19|20)\d\d(?!\d))\d+)*)(?: ?(?:x|ext\.? ?|extension )\d{1,6})?/gi;
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
/** A DOI: `10.1016/j.cell.2019.05.031`. */
const DOI = /10\.\d{4,9}\/\S{0,40}$/;
/** A fraction, or dotted groups with an inner single digit, as in versions. */
const VERSION = /^(?!0\d)\d+\.\d+$|^(?=[\d.]+$).*\.\d\./;
/** Unlike a fraction, this may be a phone number: `06.12345583`. */
const ZERO_AND_DOT = /^0\d+\.\d+$/;
/** Countries with the trunk prefix 0 in national format. */
const TRUNK_ZERO = wordSet(
  "AE AR AT AU BD BE BG CH CN DE EG FI FR GB HR HU ID IE IL IN IT JP KE KR LT LU MA MY NG NL NZ PH PK RO RS SA SE SI SK TH TR TW UA VN ZA",
);
/** Those of them with numbers that have no 0, such as mobile ones. */
const NOT_ALWAYS_ZERO = new Set(["CN", "IN", "IT"]);
/** Groups of numbers without a leading 0: at least three with one separator, an area code in brackets, five digits, two groups of four, a mobile number in two groups, or a hyphen before the last four. */
const GROUPED =
  /^\d{2,4}([ .-])\d{2,4}(?:\1\d{2,4})+$|^(?:8 )?\(\d{1,3}\)|^[6-9]\d{4}[ -]\d{5}$|^[5689]\d{3} \d{4}$|^3\d{2}[ /-]\d{6,7}$|^\d{2}[ -]9?\d{4}-\d{4}$/;
const MONEY_BEFORE = /[$€£¥#]\s?$|\d[.:]$/;
/** Letters of scripts written without spaces do not continue a number. */
const MONEY_AFTER =
  /^(?:\s?(?:%|€|usd|eur|gbp|kg|km|ms|bytes|kb|mb|gb|°| times\b)|:\d|\.\d|[_@=]|(?![\p{sc=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Hang}\p{sc=Thai}])\p{L})/u;

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
  const partsOf = (written: string, mayGoOn: () => boolean) => {
    const whole = { start: 0, end: written.length, isSure: false };
    if (NORTH_AMERICAN.test(written)) return [whole];
    const parts: (typeof whole)[] = [];
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

  /** Whether a number without a country code has a form that is a phone's even if no word says so. */
  const hasForm = ({ number, digits, isSure }: NumberInText): boolean => {
    if (ZERO_AND_DOT.test(number)) return false;
    if (NORTH_AMERICAN.test(number) || WITH_EXIT_CODE.test(number)) return digits >= 10;
    if (/^00[1-9]\d{8,12}$/.test(number)) return isSure;
    const hasZero = /^\(?0/.test(number);
    const form = hasZero ? /\d[ ().-]{1,2}\d|^\d{2,5}\/\d+(?:[ -]\d+)*$/ : GROUPED;
    if (!form.test(number)) return false;
    return regions.some((region) => mayBeOf(region, number, digits, hasZero) && isKnown(number, region));
  };

  const isPhone = (found: NumberInText): boolean => {
    const { number, digits, key, words, hasCode, isSure } = found;
    const isUnderPhone = key !== undefined && isPhoneKey(key);
    if (isAmount(found) || (!hasCode && (isOfThing(found) || DOI.test(words)))) return false;
    const isSaid = isNamed(found);
    if (hasCode) return isSaid || (isSure && !DIFFERENCE.test(number)) || WITH_CODE.test(number);
    const isFrench = FRENCH.test(number) && (isSaid || regions.includes("FR"));
    if (SINGLE_DIGITS.test(number) && !isFrench && !(isSaid && (isSure || isKnown(`+${number}`))))
      return false;
    if (!isSaid) return hasForm(found);
    return digits > MIN_DIGITS || /\D/.test(number) || isUnderPhone || /phone|t[eé]l|call/.test(words);
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
          const isOpen = plain.startsWith("(") && plain.split("(").length > plain.split(")").length;
          const number = isOpen ? plain.slice(1) : plain;
          const digits = number.replace(/\D/g, "").length;
          if (digits < MIN_DIGITS || digits > MAX_DIGITS || DATE.test(number)) continue;
          if (VERSION.test(number) && !isPhoneKey(key ?? "")) continue;
          const start = index + part.end - number.length;
          const end = index + (part.end === written.length ? match.length : part.end);
          if (isWordBefore(text, start) || (text[start - 1] === "_" && !INTERNATIONAL.test(number))) continue;
          const hasCode = /^\(?\+/.test(number);
          if (isPhone({ number, digits, hasCode, isSure: part.isSure, key, ...around(text, start, end) }))
            found.push({ start, end, type: "PHONE" });
        }
      }
      return found;
    },
  };
}

/** Whether it is an amount of money, of a unit or of times, or a part of a longer number. */
function isAmount({ number, digits, hasCode, isSure, words, rest }: NumberInText): boolean {
  const mayJoin = hasCode && isSure && digits >= 10;
  if (MONEY_BEFORE.test(words.slice(-3)) && !(mayJoin && words.endsWith(":"))) return true;
  // After a number with a country code, `_` belongs to a file name or Markdown.
  const isJoined = (rest.startsWith("_") && INTERNATIONAL.test(number)) || (mayJoin && /^[:=@]/.test(rest));
  if (!isJoined && MONEY_AFTER.test(rest)) return true;
  // A comma next to plain digits belongs to a fraction or thousands groups.
  return /^\d+$|^00[. ]/.test(number) && (/\d,$/.test(words.slice(-2)) || /^,\d/.test(rest));
}

/** Whether numbers of a region are written with this many digits and such a beginning. */
function mayBeOf(region: string, number: string, digits: number, hasZero: boolean): boolean {
  return (
    (hasZero === TRUNK_ZERO.has(region) ||
      (!hasZero && digits >= MOBILE_DIGITS && NOT_ALWAYS_ZERO.has(region))) &&
    (region !== "IN" || digits === MOBILE_DIGITS + Number(hasZero)) &&
    (region !== "IT" || digits >= SURE_DIGITS) &&
    // US numbers of three groups are found by their form.
    (region !== "US" || number.startsWith("("))
  );
}

/** Whether a number with a country code may be followed by others. A valid beginning of other numbers may be chance: `+817842 658618 329186`. */
function mayGoOn(text: string, start: number, written: string, key = ""): boolean {
  const line = text.slice(Math.max(0, start - 2), start + MAX_LINE_CHARACTERS);
  if (CODE_GROUP.test(written) && !ADDED_NUMBERS.test(line)) return true;
  return isPhoneKey(key) || hasWord(around(text, start, start).clause, SAYS_PHONE);
}

/** Where a number with a country code may end, the longest first. */
function endsOf(written: string): number[] {
  const ends: number[] = [];
  let digits = 0;
  for (const { 0: group, index } of written.slice(0, MAX_CHARACTERS + 1).matchAll(/\d+/g)) {
    const end = index + group.length;
    digits += group.length;
    if (digits > MAX_DIGITS) break;
    const isSplit = digits >= SURE_DIGITS && /^(?:[ /]|\. )/.test(written.slice(end, end + 2));
    if (isSplit || end === written.length) ends.unshift(end);
  }
  return ends.slice(0, MAX_ENDS);
}
