import { before, hasWord, wordSet } from "../context.ts";
import { standsAlone } from "../digits.ts";
import type { Detector, Finding } from "../types.ts";

const SHAPE = /\d{3}(?:(?<separator>[- .\u2011])\d{2}\k<separator>\d{4}|-\d{6}|\d{2}-\d{4}|\d{6})(?!\d)/g;
const CONTEXT = wordSet("ssn ssns social taxpayer itin tin");
/** So near to one number, another is of the same list. */
const LIST_DISTANCE = 4;

/** Finds US social security numbers. Nine digits without separators need a word that says so. */
export const ssnDetector: Detector = {
  find(text, key) {
    const found: Finding[] = [];
    for (const { 0: match, index: start } of text.matchAll(SHAPE)) {
      const end = start + match.length;
      if (!standsAlone(text, start, end) || !isIssued(match.replace(/\D/g, ""))) continue;
      if (joinsNumber(text, start, end)) continue;
      const isPlain = /^\d{9}$|^\d{5}-/.test(match) || match[3] === ".";
      if (isPlain && !hasWord(before(text, start, key), CONTEXT) && !isNext(found.at(-1), start)) continue;
      found.push({ start, end, type: "SSN" });
    }
    return found;
  },
};

function isNext(previous: Finding | undefined, start: number): boolean {
  return previous !== undefined && start - previous.end <= LIST_DISTANCE;
}

/** Whether the number goes on before or after, so that it is a part of another. */
function joinsNumber(text: string, start: number, end: number): boolean {
  return /[\d)][-./+]$/.test(text.slice(Math.max(0, start - 2), start)) || /^[-./]\d/.test(text.slice(end, end + 2));
}

function isIssued(digits: string): boolean {
  const area = digits.slice(0, 3);
  return (
    area !== "000" && area !== "666" && area < "900" && digits.slice(3, 5) !== "00" && digits.slice(5) !== "0000"
  );
}
