import { useHelper } from "../../program/helpers.ts";
import { Pattern } from "../../language/pattern.ts";
import type { Plan } from "../../planning/plan.ts";
import { RANK, type Reading } from "../../planning/reading.ts";
import type { Production, Step } from "../../planning/step.ts";
import { hasType, isNumeric, type Value } from "../../planning/value.ts";
import { call, cast, literal, member, method, name } from "../../program/expression.ts";
import { singular } from "../../program/names.ts";
import { readNumbers } from "./aggregate.ts";
import { Columns } from "./columns.ts";
import { readVerb, WORK } from "./cursor.ts";
import { applySelection } from "./lower-rows.ts";
import { notUnderstood } from "./refusal.ts";
import { readRequest } from "./request.ts";
import { RowReader } from "./row-reader.ts";
import { isEmpty } from "./selection.ts";
import { type RowSource, sourcesIn } from "./sources.ts";

/** Work on the rows that earlier steps gave: `keep those older than 40`, `sort them by price`, `return their emails`. */
export const readCollection: Production = (step, plan) => {
  const sources = sourcesIn(plan);
  const counted = readCounts(step, plan) ?? readNumber(step, plan);
  if (counted !== undefined) return counted;
  let closest: { reader: RowReader; source: RowSource } | undefined;
  for (const source of sources) {
    const isSorted = plan.values.some((value) => /^(?:sorted|top)\b/u.test(value.words));
    const reader = new RowReader(step.span, new Columns(source.item, source.words), source.noun, isSorted);
    if (readRequest(reader, source.needsNoun === true) && !isEmpty(reader.selection))
      return toReading(plan, reader, source);
    if (closest === undefined || reader.cursor.furthest > closest.reader.cursor.furthest)
      closest = { reader, source };
  }
  if (closest !== undefined && WORK.test(readVerb(step.span).verb))
    throw notUnderstood(step, closest.reader, closest.source.words);
  return undefined;
};

function toReading(plan: Plan, reader: RowReader, source: RowSource): Reading {
  const { selection, noun, columns, verb } = reader;
  const isSpokenOf =
    noun === undefined || noun.isPronoun || selection.conditions.length === 0 || WORK.test(verb);
  const grouped =
    selection.aggregate === undefined || selection.group !== undefined ? undefined : source.group;
  return {
    kind: "rows",
    rank: RANK.plain + (isSpokenOf ? 0.7 : 0.2),
    lower() {
      if (grouped !== undefined) {
        selection.group = columns.named([grouped]);
        for (const value of plan.values.slice(-1)) value.consumed = true;
      }
      const made = fieldOf(plan, reader, source) ?? applySelection(plan, source.open(plan, noun), selection);
      if (verb === "print") print(plan, made);
    },
  };
}

/** `print the names`, right after a JSON file was read: of its record, or of every record of its list. */
function fieldOf(
  plan: Plan,
  { selection, noun }: RowReader,
  { isFile, value }: RowSource,
): Value | undefined {
  const { columns, ...rest } = selection;
  const [column, ...more] = columns ?? [];
  if (isFile !== true || noun !== undefined || column === undefined || more.length > 0 || !isEmpty(rest))
    return undefined;
  value.consumed = true;
  const { words } = column;
  const field = call(useHelper("fieldOf"), value.expression, literal(words));
  const isList = singular(words) !== words;
  return plan.declare(isList ? cast(field, "unknown[]") : field, {
    words,
    schema: isList ? { type: "array", items: {} } : {},
  });
}

const COUNT_ALL = new Pattern(
  "(count | how many are in) (both | all | each | them all | both of them | each of them)",
);

/** `count both`: every list that no step has used yet. */
function readCounts({ span }: Step, plan: Plan): Reading | undefined {
  const lists = plan.values.filter((value) => hasType(value.schema, "array") && !value.consumed);
  const isBoth = /\bboth\b/u.test(span.lower);
  if (lists.length < 2 || (isBoth && lists.length !== 2) || COUNT_ALL.match(span) === undefined)
    return undefined;
  return {
    kind: "count",
    rank: RANK.plain + 0.8,
    lower() {
      for (const list of lists) {
        list.consumed = true;
        plan.declare(member(list.expression, "length"), {
          words: `${singular(list.words)} count`,
          schema: { type: "number" },
        });
      }
    },
  };
}

/** `calculate the average`, `sum the numbers`: one number of what there is. */
function readNumber({ span }: Step, plan: Plan): Reading | undefined {
  const { verb, rest } = readVerb(span);
  const meaning = readNumbers(rest, plan);
  return (
    meaning && {
      kind: "aggregate",
      rank: RANK.plain + 0.6,
      lower() {
        const value = plan.declare(meaning.lower(), { words: meaning.words, schema: meaning.schema });
        if (verb === "print") print(plan, value);
      },
    }
  );
}

/** `print`, `log`: text and numbers as they are, the rest as JSON. */
export function print(plan: Plan, value: Value): void {
  const isText = hasType(value.schema, "string", "boolean") || isNumeric(value.schema);
  const isUnknown = Object.keys(value.schema).length === 0;
  const json = method(name("JSON"), "stringify", value.expression, literal(null), literal(2));
  const text = isText ? value.expression : isUnknown ? call(useHelper("toText"), value.expression) : json;
  plan.add({ kind: "do", value: call(member(name("console"), "log"), text) });
}
