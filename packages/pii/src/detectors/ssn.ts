import { before, endsWith, hasWord, lastClause, namesThing, SAYS_PHONE, wordSet } from "../context.ts";
import { standsAlone } from "../digits.ts";
import type { Detector, Finding } from "../types.ts";

const SHAPE = /\d{3}(?:(?<separator>[- .\u2011])\d{2}\k<separator>\d{4}|-\d{6}|\d{2}-\d{4}|\d{6})(?!\d)/g;
const CONTEXT = wordSet("ssn ssns social taxpayer itin tin");
/** Numbers that were printed in advertisements and became nobody's. */
const ADVERTISED: ReadonlySet<string> = new Set(["078051120", "219099999"]);
const SEQUENCES: ReadonlySet<string> = new Set(["123456789", "987654321"]);
/** Words before the numbers of rooms and seats, after which a house number may follow. */
const PLACES = wordSet(
  "suite ste apt apartment unit room rm floor fl box flat building bldg gate locker aisle bin shelf seat flight bus",
);
/** A further group of digits, as in a table or a list of dimensions; not one more number of this form. */
const GROUP_BEFORE = /(?<!\d{3} \d{2} \d{3})\d $/;
const GROUP_AFTER = /^ (?!\d{3} \d{2} \d{4})\d/;
const NUMBER_CHARACTERS = 12;
const ZIP_CODE = /^\s*\d{5}-\d{4}\s*$/;
const MAX_LIST_CHARACTERS = 64;

/** Finds US social security numbers. Nine digits without separators need a word that says so. */
export const ssnDetector: Detector = {
  find(text, key) {
    const found: Finding[] = [];
    for (const { 0: match, index: start } of text.matchAll(SHAPE)) {
      const end = start + match.length;
      if (!standsAlone(text, start, end) || !isIssued(match.replace(/\D/g, ""))) continue;
      if (joinsNumber(text, start, end) || namesThing(before(text, start))) continue;
      // Only hyphens or spaces in their places are a form of its own.
      const isPlain = !/^\d{3}([- \u2011])\d{2}\1/.test(match);
      const words = before(text, start, key);
      // Numbers of phones are written in such groups too, though not with hyphens.
      if (match[3] !== "-" && hasWord(lastClause(words), SAYS_PHONE) && !hasWord(words, CONTEXT)) continue;
      if (!match.includes("-") && !hasWord(words, CONTEXT) && isOneOfMany(text, start, end, words)) continue;
      if (isPlain && SEQUENCES.has(match)) continue;
      if (isPlain && !hasWord(words, CONTEXT) && !isAlone(text, key)) continue;
      found.push({ start, end, type: "SSN" });
    }
    return found;
  },
};

/** Whether groups between spaces belong to an address, or to more groups. */
function isOneOfMany(text: string, start: number, end: number, words: string): boolean {
  return (
    endsWith(words, PLACES) ||
    GROUP_BEFORE.test(text.slice(Math.max(0, start - NUMBER_CHARACTERS), start)) ||
    GROUP_AFTER.test(text.slice(end, end + NUMBER_CHARACTERS))
  );
}

/** Whether a text that stands for itself is nothing but such numbers. */
function isAlone(text: string, key: string | undefined): boolean {
  return (
    key === undefined &&
    !ZIP_CODE.test(text) &&
    text.length <= MAX_LIST_CHARACTERS &&
    /^(?:\d{3}[- .]?\d{2}[- .]?\d{4}[\s,;]*)+$/.test(text)
  );
}

/** Whether the number goes on before or after, so that it is a part of another. */
function joinsNumber(text: string, start: number, end: number): boolean {
  return (
    /[\p{L}\d)][-./+]$/u.test(text.slice(Math.max(0, start - 2), start)) ||
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
