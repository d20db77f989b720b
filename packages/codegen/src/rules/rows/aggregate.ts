import { AGGREGATES } from "../phrases.ts";
import { form, type Match, type Phrase, meaningOf, oneOf } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { hasType, isRows, type Value } from "../planning/value.ts";
import { call, type Expression, literal, member } from "../program/expression.ts";
import { onePage } from "../calls/many-calls.ts";
import { currentRows, meansRows, readSource, rowsOf } from "./source.ts";

const NOUN = "(?<noun>[\\p{L}_]+)";
const COUNT = form(
  `(?:count|how many|number of|get number of)(?: all)? ${NOUN}(?: are there)?(?: (?:in|of|from) {source})?(?: \\?)?`,
);
const COUNT_IN = form(
  `how many ${NOUN} (?:are(?: there)? in|does|do|has|have) {source}?(?: (?:have|contain))?(?: \\?)?`,
);
const ASK = "(?:(?:calculate|compute|get|find|determine|what is|show|give|print|tell) )?";
const OF = `${ASK}(?<verb>${oneOf(AGGREGATES)})(?: (?:of|up))?(?: {column})??`;
const AGGREGATE = form(`${OF}(?: column| field)?(?: (?:of|in|from) {source})?(?: \\?)?`);
const LIST_FIELD = form(
  `${ASK}(?<verb>${oneOf(AGGREGATES)})(?: (?:of|up))? (?:all (?<all>[\\p{L}_]+)|(?<list>[\\p{L}_]+) (?:array|list))(?: in [\\p{L}_]+ (?:array|list))?`,
);
const HELPERS: Readonly<Record<string, string>> = {
  sum: "total",
  average: "average",
  median: "median",
  max: "largest",
  min: "smallest",
};
const NUMBERS = /^(?:numbers|values|them|it|list|all|all numbers|entries)$/u;

/** `count them`, `how many rows are in sales.csv` */
export function planCount(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(COUNT) ?? phrase.match(COUNT_IN);
  if (found === undefined) return false;
  const rows = sourceOf(found, plan);
  if (rows === undefined) return false;
  if (rows.pageOf !== undefined) throw onePage(rows, plan);
  const isRead = found.part("source") !== undefined;
  if (!meansRows(found.lower("noun"), rows) || (isRead && hasType(rows.schema, "string"))) return false;
  const list = hasType(rows.schema, "array") ? rows.expression : rowsOf(rows, plan);
  rows.consumed = true;
  plan.declare(member(list, "length"), { words: `${rows.words} count`, schema: { type: "integer" } });
  return true;
}

/** `the sum of all results`: of a list in a field of a JSON file. */
export function planListField(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(LIST_FIELD);
  const helper = found && helperOf(found);
  const field = found === undefined ? "" : found.text("all") || found.text("list");
  const document = plan.document?.value;
  if (helper === undefined || document === undefined || NUMBERS.test(field)) return false;
  plan.declare(fieldNumber(helper, document, field), {
    words: found?.lower("verb").startsWith("a") === true ? "average" : "sum",
    schema: { type: "number" },
  });
  return true;
}

/** `total(numbersOf(listIn(state, "results")))` */
export function fieldNumber(helper: string, document: Value, field: string): Expression {
  return call(helper, call("numbersOf", call("listIn", document.expression, literal(field))));
}

function helperOf(found: Match): string | undefined {
  return HELPERS[meaningOf(found.lower("verb"), AGGREGATES) ?? ""];
}

/** `sum the total`, `the average age in people.json` */
export function planColumnNumber(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(AGGREGATE);
  const helper = found && helperOf(found);
  if (found === undefined || helper === undefined) return false;
  const column = found.lower("column").replace(/ column$/u, "");
  if (!/^[\p{L}\p{N}_]*$/u.test(column)) return false;
  const rows = sourceOf(found, plan);
  if (rows === undefined || hasType(rows.schema, "string")) return false;
  if (rows.pageOf !== undefined) throw onePage(rows, plan);
  const words = found.lower("verb").split(" ")[0] ?? "";
  const isPlain = column === "" || NUMBERS.test(column);
  if (isPlain && isRows(rows)) return false;
  const numbers = isPlain
    ? call("numbersOf", rows.expression)
    : call("numbersIn", rowsOf(rows, plan), literal(column));
  rows.consumed = true;
  plan.declare(call(helper, numbers), {
    words: words === "add" ? "sum" : words,
    schema: { type: "number" },
  });
  return true;
}

export function sourceOf(found: Match, plan: Plan): Value | undefined {
  const source = found.part("source");
  return source === undefined ? currentRows(plan) : readSource(source, plan);
}
