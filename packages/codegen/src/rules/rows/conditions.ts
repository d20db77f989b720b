import { COMPARATORS, EQUALITIES } from "../phrases.ts";
import { form, type Phrase, meaningOf, oneOf } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { ROW_LIST } from "../planning/references.ts";
import type { Value } from "../planning/value.ts";
import { call, type Expression, literal, method } from "../program/expression.ts";
import { meansRows, rowsOf } from "./source.ts";

const LEAD = "(?:where|with|whose|having|that have|which have|who have)";
const COMPARED = form(
  `(?:(?<noun>[\\p{L}_]+) )?(?:${LEAD} )?{column:name}(?: column)? (?:is |are |of )?(?<comparator>${oneOf(COMPARATORS)}|${oneOf(EQUALITIES)}|is not|is|are|:) {value}`,
);
const ADJECTIVE = form(
  "(?:that are |who are |which are )?(?<adjective>[\\p{L}_-]+)(?: (?<noun>[\\p{L}_]+))?",
);
const PLACED = form("(?:(?<noun>[\\p{L}_]+) )?(?:in|from) {place}");

/** Filters rows by a condition in words; `undefined` if the words are not a condition. */
export function filterRows(rows: Value, phrase: Phrase, plan: Plan): Value | undefined {
  const [first, ...others] = phrase.split(/ and /gu);
  let current = first && (compareColumn(rows, first, plan) ?? findText(rows, first, plan));
  for (const other of others) current = current && compareColumn(current, other, plan);
  return current;
}

/** `where price > 10`, `whose status is "open"` */
function compareColumn(rows: Value, phrase: Phrase, plan: Plan): Value | undefined {
  const found = phrase.match(COMPARED);
  const value = found?.literal("value")?.value ?? wordValue(found?.part("value"));
  if (found === undefined || value === undefined || typeof value === "object") return undefined;
  if (!meansRows(found.lower("noun"), rows)) return undefined;
  const comparator = found.lower("comparator");
  const operator =
    meaningOf(comparator, COMPARATORS) ??
    meaningOf(comparator, EQUALITIES) ??
    (comparator === "is not" ? "!=" : "=");
  const test = operator === "===" ? "=" : operator === "!==" ? "!=" : operator;
  const kept = call(
    "where",
    rowsOf(rows, plan),
    literal(found.text("column")),
    literal(test),
    literal(value),
  );
  return declareRows(kept, rows, plan);
}

function wordValue(phrase: Phrase | undefined): string | undefined {
  const [token] = phrase?.tokens ?? [];
  return phrase?.tokens.length === 1 && token?.kind === "word" ? token.text : undefined;
}

/** `active users`, `users in Tokyo`: a text in some column. */
function findText(rows: Value, phrase: Phrase, plan: Plan): Value | undefined {
  const placed = phrase.match(PLACED);
  const place = placed?.part("place");
  const isName = place?.tokens.every(({ kind, text }) => kind === "quote" || /^\p{Lu}/u.test(text)) === true;
  if (placed !== undefined && place !== undefined && isName && meansRows(placed.lower("noun"), rows))
    return declareRows(holding(rows, place.words, plan), rows, plan);
  const found = phrase.match(ADJECTIVE);
  if (found === undefined || !meansRows(found.lower("noun"), rows)) return undefined;
  if (/^(?:by|not|out|all|only|first|last|top)$/u.test(found.lower("adjective"))) return undefined;
  return declareRows(holding(rows, found.text("adjective"), plan), rows, plan);
}

function holding(rows: Value, word: string, plan: Plan): Expression {
  const list = rowsOf(rows, plan);
  return method(list, "filter", call("holds", list, literal(word)));
}

/** Declares derived rows, which keep the name and schema of their source. */
export function declareRows(expression: Expression, from: Value, plan: Plan, isSorted = from.isSorted) {
  return plan.declare(expression, {
    words: from.words,
    schema: from.schema.items === undefined ? ROW_LIST : from.schema,
    isSorted,
  });
}
