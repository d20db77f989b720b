import { DIRECTIONS, PROPERTY_COLUMNS, SUPERLATIVES } from "../phrases.ts";
import { form, type Phrase, meaningOf, oneOf } from "../language/phrase.ts";
import type { Plan } from "../planning/plan.ts";
import { cite, type Value } from "../planning/value.ts";
import { call, literal, method } from "../program/expression.ts";
import { planColumnNumber, planCount, planListField, sourceOf } from "./aggregate.ts";
import { declareRows, filterRows } from "./conditions.ts";
import { currentRows, meansRows, queryTable, rowsOf, sqlTool } from "./source.ts";

const QUERY = form(
  "(?:(?:query|search|ask) database (?:for|to get)|query|get) (?:all )?{what}(?<from> (?:from|in) database)?",
);
const LISTED = form(
  "(?:(?<adjective>[\\p{L}-]+) )??{table:name}(?: table)?(?: (?<conditions>(?:where|with|whose|having|in|from|that|which|who) .*))?",
);
const FILTER = form("(?:filter|keep)(?: (?:them|it|these|those|only|for|to|by|list|down to))*(?: {what})?");
const SORT = form(
  `(?:sort|order|rank)(?: (?<noun>[\\p{L}_]+))? by {column:name}(?: column)?(?: (?<direction>${oneOf(DIRECTIONS)}))?`,
);
const LIMIT = form(
  "(?:(?:take|keep|return|show|get|give|print|list)(?: only)? (?<end>top|first|last)|limit(?: (?:them|it|rows))? to(?: first)?) {count:number}(?: (?<noun>[\\p{L}_]+))?",
);
const STATS = form(
  "(?:(?:calculate|compute|get|show|give|print) )?(?:(?:summary|basic|some) )?(?:statistics|stats|statistical summary)(?: (?:of|for|about) {source})?",
);
const BEST = form(
  `(?:(?:find|get|show|give|return|which is|what is|print) )?(?<which>${oneOf(SUPERLATIVES)})(?: (?<noun>[\\p{L}_]+))?`,
);

/** Plans a step that works on rows of a table, a file or an earlier result; `false` if it does not. */
export function planRows(phrase: Phrase, plan: Plan): boolean {
  return (
    planQuery(phrase, plan) ||
    planCount(phrase, plan) ||
    planListField(phrase, plan) ||
    planColumnNumber(phrase, plan) ||
    planStatistics(phrase, plan) ||
    planOnCurrent(phrase, plan)
  );
}

/** `query the database for active users` */
function planQuery(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(QUERY);
  const isDatabase = /^(?:query|search|ask)\b/u.test(phrase.shape) || found?.lower("from") !== "";
  const tool = found === undefined || !isDatabase ? undefined : sqlTool(plan, phrase.shape);
  const what = found?.part("what");
  if (found === undefined || what === undefined || tool === undefined) return false;
  const listed = what.match(LISTED);
  if (listed === undefined) return false;
  const table = queryTable(listed.text("table"), tool, plan);
  const adjective = listed.part("adjective");
  const conditions = listed.part("conditions");
  const active = adjective === undefined ? table : filterRows(table, adjective, plan);
  const rows =
    conditions === undefined || active === undefined ? active : filterRows(active, conditions, plan);
  if (rows !== undefined) return true;
  const hint = `In ${cite(phrase.text)}, ${cite(what.text)} was not understood as rows of a table.`;
  throw plan.unread(what.words, hint, tool);
}

function planOnCurrent(phrase: Phrase, plan: Plan): boolean {
  const rows = currentRows(plan);
  if (rows === undefined) return false;
  const what = phrase.match(FILTER)?.part("what");
  return (
    (what !== undefined && filterRows(rows, what, plan) !== undefined) ||
    planSort(rows, phrase, plan) ||
    planLimit(rows, phrase, plan) ||
    planBest(rows, phrase, plan)
  );
}

function planSort(rows: Value, phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(SORT);
  if (found === undefined || !meansRows(found.lower("noun"), rows)) return false;
  const direction = meaningOf(found.lower("direction"), DIRECTIONS) ?? "ascending";
  const sorted = call("sortedBy", rowsOf(rows, plan), literal(direction), literal(found.text("column")));
  declareRows(sorted, rows, plan, true);
  return true;
}

function planLimit(rows: Value, phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(LIMIT);
  const count = found?.number("count");
  if (found === undefined || count === undefined || !Number.isInteger(count) || count < 1) return false;
  if (!meansRows(found.lower("noun"), rows)) return false;
  const end = found.lower("end");
  const unsorted = `Nothing says by which column the rows of ${cite(phrase.text)} are sorted. Sort them first.`;
  if (end === "top" && rows.isSorted !== true) throw plan.unread("top", unsorted);
  const range = end === "last" ? [literal(-count)] : [literal(0), literal(count)];
  const list = rowsOf(rows, plan);
  declareRows(method(list, "slice", ...range), rows, plan);
  return true;
}

function planBest(rows: Value, phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(BEST);
  const which = found?.lower("which") ?? "";
  const [property = "", end = ""] = (meaningOf(which, SUPERLATIVES) ?? "").split(" ");
  if (found === undefined || !meansRows(found.lower("noun"), rows)) return false;
  const columns = (PROPERTY_COLUMNS[property] ?? []).map((column) => literal(column));
  const isConsumed = rows.consumed;
  plan.declare(call("bestOf", rowsOf(rows, plan), literal(end), ...columns), {
    words: which,
    schema: rows.schema.items,
  });
  // The compared values remain a result in addition to the best of them.
  rows.consumed = isConsumed;
  return true;
}

function planStatistics(phrase: Phrase, plan: Plan): boolean {
  const found = phrase.match(STATS);
  const rows = found && sourceOf(found, plan);
  if (rows === undefined) return false;
  const statistics = call("statisticsOf", rowsOf(rows, plan));
  plan.declare(statistics, { words: "statistics", schema: { type: "object" } });
  return true;
}
