import { outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

const ABBREVIATION = /(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|st|no|approx|incl)|\b\p{Lu})\.$/iu;
const SQL_START = /\bSELECT\s(?:(?!\bSELECT\s)[\s\S]){1,2000}?\sFROM\s|^\s*WITH\s+\w+\s+AS\b/u;

/** Splits prose into sentences. Quotes, brackets, paths and numbers are never split. */
export function splitSentences(text: string): string[] {
  const mask = outline(text);
  const cuts: number[] = [];
  for (const match of mask.matchAll(/(?<![.!?;])[.!?;]+["')\]]*\s+|(?<=[}\]"'])\s+(?=\p{Lu}\p{Ll}+\s)/gu)) {
    const end = match.index + match[0].length;
    const before = mask.slice(Math.max(0, match.index - 12), match.index + 1);
    const next = mask.slice(end, end + 200);
    if (match[0].startsWith(".") && ABBREVIATION.test(before) && !beginsStep(next)) continue;
    if (
      /^\s/u.test(match[0])
        ? beginsStep(next)
        : /^[\p{Lu}\d"'`“/({[]/u.test(next) || match[0].startsWith(";") || beginsStep(next)
    ) {
      cuts.push(end);
    }
  }
  return cutAt(text, cuts)
    .map((sentence) => sentence.replace(/[;]\s*$/u, "").trim())
    .filter((sentence) => sentence !== "");
}

/** Splits a sentence into clauses that are steps of their own. */
export function splitClauses(sentence: string, own: OwnWords): string[] {
  const sql = outline(sentence).search(SQL_START);
  if (sql >= 0) return splitSql(sentence, sql, own);
  const mask = outline(sentence);
  const pieces: { start: number; end: number }[] = [];
  let start = 0;
  for (const match of mask.matchAll(SEPARATOR)) {
    const end = match.index + match[0].length;
    const sure = /then|afterwards|finally/iu.test(match[0]);
    const rest = mask.slice(end, end + 200);
    const begins =
      (sure && !/^by\b/iu.test(rest)) ||
      beginsStep(rest, own.verbs) ||
      beginsWithNoun(rest, own.nouns) ||
      /^(?:if|when|otherwise|else|unless)\b/iu.test(rest);
    if (!begins || sentence.slice(start, match.index).trim() === "") continue;
    if (isInsideQuestion(mask.slice(start, match.index), rest)) continue;
    pieces.push({ start, end: match.index });
    start = end;
  }
  pieces.push({ start, end: sentence.length });
  return pieces.map((piece) => sentence.slice(piece.start, piece.end).trim()).filter((piece) => piece !== "");
}

/** Words that begin a step in addition to the common English verbs. */
export interface OwnWords {
  verbs: ReadonlySet<string>;
  nouns: ReadonlySet<string>;
}

function beginsWithNoun(rest: string, nouns: ReadonlySet<string>): boolean {
  const match = /^(?:the\s+)?(?:current\s+)?([\p{L}]+)\s+(?:for|in|of|at|on)\s/iu.exec(rest);
  return match?.[1] !== undefined && nouns.has(match[1].toLowerCase());
}

const SEPARATOR =
  /(?<!\s)(?:\s*[,;]\s*(?:and\s+|but\s+)?(?:and\s+)?(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+(?:and|but|&)\s+(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+then\s+|\s+(?=(?:otherwise|else)\b)|\s*(?:->|→|=>)\s*)/giu;

/** Whether "and" joins the parts of a phrase: "between 2 and 5", "both X and Y". */
function isInsideQuestion(before: string, rest: string): boolean {
  return /\b(?:between|both)\s+\S+$/iu.test(before) && /^[\d·"']/u.test(rest);
}

/** Splits a sentence with SQL. The SQL and the words that lead to it are one clause, up to a "then". */
function splitSql(whole: string, start: number, own: OwnWords): string[] {
  const before = start === 0 ? [] : splitClauses(whole.slice(0, start), own);
  const sentence = `${before.pop() ?? ""} ${whole.slice(start)}`.trim();
  const match =
    /;\s*|(?:,|(?<![\s,]))\s+(?:and\s+)?then\s+|,\s+and\s+(?=(?:save|print|count|write|show|return)\b)/u.exec(
      outline(sentence),
    );
  if (match === null) return [...before, sentence];
  const rest = sentence.slice(match.index + match[0].length);
  return [...before, sentence.slice(0, match.index), ...splitClauses(rest, own)].filter(
    (part) => part.trim() !== "",
  );
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
