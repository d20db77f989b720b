import { outline } from "./outline.ts";
import { beginsStep } from "./verbs.ts";

/** The condition of a step. */
export interface StepCondition {
  /** The condition in the user's words: `temperature is above 20`. */
  text: string;
  /** Whether the condition must hold; `false` for "otherwise" and "unless". */
  holds: boolean;
  /** Number of the condition in the task, from 1. Steps with the same number belong to one if/else. */
  branch: number;
}

const LEADING = /^(?:and\s+|but\s+)?(?:only\s+)?(if|when|in case|provided(?: that)?|unless)\s+/iu;
const OTHERWISE = /^(?:and\s+|but\s+)?(?:otherwise|else|if not)\b[,:]?\s*/iu;

/** Splits `if X then Y`, `if X, Y` and `Y if X` into condition and step. */
export function readCondition(clause: string): {
  condition?: string | undefined;
  negated: boolean;
  rest: string;
} {
  const leading = LEADING.exec(clause);
  if (leading !== null) {
    const body = clause.slice(leading[0].length);
    const cut = /(?:,|(?<!\s))\s+then\s+|,\s+|:\s+/u.exec(outline(body)) ?? findOrder(outline(body));
    const condition = cut === null ? body : body.slice(0, cut.index);
    const rest = cut === null ? "" : body.slice(cut.index + cut[0].length);
    return { condition: condition.trim(), negated: /^unless$/iu.test(leading[1] ?? ""), rest };
  }
  const trailing =
    /(?:,|(?<![\s,]))\s+(?:but\s+)?(?:only\s+)?(if|unless|provided that)\s+(?!possible|needed|any\b|necessary|you can)/iu.exec(
      outline(clause),
    );
  if (
    trailing === null ||
    /\b(?:check|verify|tell(?: me)?|see|know|ask|test|find out|show)$/iu.test(clause.slice(0, trailing.index))
  ) {
    return { negated: false, rest: clause };
  }
  return {
    condition: clause.slice(trailing.index + trailing[0].length).trim(),
    negated: /^unless$/iu.test(trailing[1] ?? ""),
    rest: clause.slice(0, trailing.index),
  };
}

/** Finds where the step begins in `it is above 15 print …`: at the first verb after the comparison. */
function findOrder(mask: string): { 0: string; index: number } | null {
  const compared =
    /\b(?:is|are|was|equals?|above|below|over|under|than|exceeds|least|most|has|have|exists?|contains?)\b|[<>=]|['’]s\b/iu.exec(
      mask,
    );
  if (compared === null) return null;
  for (const match of mask.matchAll(/(?<!\s)\s+(?=\p{L})/gu)) {
    if (match.index > compared.index && beginsStep(mask.slice(match.index, match.index + 200)))
      return { 0: match[0], index: match.index };
  }
  return null;
}

/** The rest of a clause that begins with "otherwise"; `undefined` for any other clause. */
export function readOtherwise(clause: string): string | undefined {
  const match = OTHERWISE.exec(clause);
  return match === null ? undefined : clause.slice(match[0].length);
}

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
  return [0, ...cuts]
    .map((from, index) => text.slice(from, cuts[index]))
    .map((sentence) => sentence.replace(/[;]\s*$/u, "").trim())
    .filter((sentence) => sentence !== "");
}

/** Splits a sentence into clauses that are steps of their own. @param verbs - As {@link beginsStep} takes them. */
export function splitClauses(sentence: string, verbs: ReadonlySet<string>): string[] {
  const sql = outline(sentence).search(SQL_START);
  if (sql >= 0) return splitSql(sentence, sql, verbs);
  const mask = outline(sentence);
  const pieces: string[] = [];
  let start = 0;
  for (const match of mask.matchAll(SEPARATOR)) {
    const end = match.index + match[0].length;
    const sure = /then|afterwards|finally/iu.test(match[0]);
    const rest = mask.slice(end, end + 200);
    const begins =
      (sure && !/^by\b/iu.test(rest)) ||
      beginsStep(rest, verbs) ||
      /^(?:if|when|otherwise|else|unless)\b/iu.test(rest);
    if (!begins || sentence.slice(start, match.index).trim() === "") continue;
    if (isInsideQuestion(mask.slice(start, match.index), rest)) continue;
    pieces.push(sentence.slice(start, match.index));
    start = end;
  }
  pieces.push(sentence.slice(start));
  return pieces.map((piece) => piece.trim()).filter((piece) => piece !== "");
}

const SEPARATOR =
  /(?<!\s)(?:\s*[,;]\s*(?:and\s+|but\s+)?(?:and\s+)?(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+(?:and|but|&)\s+(?:(?:then|afterwards|after that|finally)\b,?\s+)?|\s+then\s+|\s+(?=(?:otherwise|else)\b)|\s*(?:->|→|=>)\s*)/giu;

/** Whether "and" joins the parts of a phrase: "between 2 and 5", "both X and Y". */
function isInsideQuestion(before: string, rest: string): boolean {
  return /\b(?:between|both)\s+\S+$/iu.test(before) && /^[\d·"']/u.test(rest);
}

/** Splits a sentence with SQL. The SQL and the words that lead to it are one clause, up to a "then". */
function splitSql(whole: string, start: number, verbs: ReadonlySet<string>): string[] {
  const before = start === 0 ? [] : splitClauses(whole.slice(0, start), verbs);
  const sentence = `${before.pop() ?? ""} ${whole.slice(start)}`.trim();
  const match =
    /;\s*|(?:,|(?<![\s,]))\s+(?:and\s+)?then\s+|,\s+and\s+(?=(?:save|print|count|write|show|return)\b)/u.exec(
      outline(sentence),
    );
  if (match === null) return [...before, sentence];
  const rest = sentence.slice(match.index + match[0].length);
  return [...before, sentence.slice(0, match.index), ...splitClauses(rest, verbs)].filter(
    (part) => part.trim() !== "",
  );
}
