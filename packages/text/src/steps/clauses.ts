import { outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|incl)|\b\p{Lu})\.$/iu;
const SQL_START = /^\s*(?:SELECT\b[\s\S]+?\bFROM\b|WITH\b[\s\S]+?\bAS\b)/u;

/** Cuts prose into sentences. Quotes, brackets, paths and numbers are never cut. */
export function splitSentences(text: string): string[] {
  const mask = outline(text);
  const cuts: number[] = [];
  for (const match of mask.matchAll(/[.!?;]+["')\]]*\s+|(?<=[}\]"'])\s+(?=\p{Lu}\p{Ll}+\s)/gu)) {
    const end = match.index + match[0].length;
    const before = mask.slice(Math.max(0, match.index - 12), match.index + 1);
    const next = mask.slice(end, end + 200);
    if (match[0].startsWith(".") && ABBREVIATION.test(before) && !beginsStep(next)) continue;
    if (/^\s/u.test(match[0]) ? beginsStep(next) : /^[\p{Lu}\d"'`“/({[]/u.test(next) || match[0].startsWith(";") || beginsStep(next)) {
      cuts.push(end);
    }
  }
  return cutAt(text, cuts).map((sentence) => sentence.replace(/[;]\s*$/u, "").trim()).filter((sentence) => sentence !== "");
}

/** Cuts one sentence into the orders it gives. */
export function splitClauses(sentence: string, ownVerbs: ReadonlySet<string>): string[] {
  if (SQL_START.test(sentence)) return splitSql(sentence);
  const mask = outline(sentence);
  const pieces: { start: number; end: number }[] = [];
  let start = 0;
  for (const match of mask.matchAll(SEPARATOR)) {
    const end = match.index + match[0].length;
    const sure = /then|afterwards|finally/iu.test(match[0]);
    const rest = mask.slice(end, end + 200);
    const begins = sure || beginsStep(rest, ownVerbs) || /^(?:if|when|otherwise|else|unless)\b/iu.test(rest);
    if (!begins || sentence.slice(start, match.index).trim() === "") continue;
    if (isInsideQuestion(mask.slice(start, match.index), rest)) continue;
    pieces.push({ start, end: match.index });
    start = end;
  }
  pieces.push({ start, end: sentence.length });
  return pieces.map((piece) => sentence.slice(piece.start, piece.end).trim()).filter((piece) => piece !== "");
}

const SEPARATOR =
  /(?:\s*[,;]\s*(?:and\s+|but\s+)?(?:and\s+)?(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+(?:and|but|&)\s+(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+then\s+|\s*(?:->|→|=>)\s*)/giu;

/** "between 2 and …", "from 3 to 5 and", "both X and Y" hold together. */
function isInsideQuestion(before: string, rest: string): boolean {
  return /\b(?:between|both)\s+\S+$/iu.test(before) && /^[\d·"']/u.test(rest);
}

function splitSql(sentence: string): string[] {
  const match = /;\s*|,?\s+(?:and\s+)?then\s+|,\s+and\s+(?=(?:save|print|count|write|show|return)\b)/u.exec(outline(sentence));
  if (match === null) return [sentence];
  const rest = sentence.slice(match.index + match[0].length);
  return [sentence.slice(0, match.index), ...splitClauses(rest, new Set())].filter((part) => part.trim() !== "");
}

function cutAt(text: string, cuts: readonly number[]): string[] {
  const parts: string[] = [];
  let last = 0;
  for (const cut of cuts) {
    parts.push(text.slice(last, cut));
    last = cut;
  }
  parts.push(text.slice(last));
  return parts;
}
