import { readSelection } from "../reading/selection.ts";
import type { StepContext } from "./operation.ts";
import { isForOtherTool } from "./operation.ts";
import { applySelection, currentRows, pickColumns } from "./rows.ts";
import { arrow, call, method } from "../program/expression.ts";
import { useHelper } from "./helpers.ts";
import { singular } from "../program/names.ts";
import { hasType, propertiesOf } from "../planning/value.ts";
import { COUNT } from "../reading/row-order.ts";
import { toField } from "../reading/row-selection.ts";
import { printable } from "./print.ts";
import { Unfilled } from "../planning/plan.ts";
import { newestList, readAggregate } from "./aggregate.ts";
import { matchProperty, sameWords } from "../planning/references.ts";

const STARTS =
  /^(?:filter|sort|order|rank|take|keep|limit|count|how many|group|calculate|compute|get|show|find|give|return|select|pick|only|average|sum|total|remove|exclude|the|what|which|who|list|median|mean|top|first|last)\b/iu;
const WORK = new RegExp(
  `\\b(?:filter|sort|sorted|order(?:ed)? by|rank|(?:top|first|last) ${COUNT}|count|how many|number (?:of|in)|difference|in each|group(?:ed)?|statistics|stats|average|mean|median|sum|total|min(?:imum)?|max(?:imum)?|only|keep|where|whose|highest|lowest|most|least|cheapest|oldest|youngest|newest|limit|per)\\b`,
  "iu",
);
/** Nouns that name a column rather than the rows: `the first two names`. */
const COLUMN_NOUN =
  /^(?:names|emails|titles|ids|ages|cities|countries|addresses|phones|prices|dates|descriptions|urls)$/iu;

/** `keep those older than 40`, after a step that gave rows. */
function hasFilter(text: string, plan: StepContext["plan"]): boolean {
  const isFile = plan.document !== undefined && plan.document.value === plan.values.at(-1);
  return (isFile || newestList(plan) !== undefined) && readSelection(text).filters.length > 0;
}

const COLUMNS =
  /^(?:return|print|show|give|list|get|keep|extract|select|collect|output|display|take|only|report|tell)\s+(?:(?:me|us|only|just|back|out)\s+)*(their|the|its|all|each|every)?\s*(?:the\s+)?([\p{L}_]+(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)(?:their\s+|the\s+)?[\p{L}_]+)*)(?:\s+(?:columns?|fields?))?(?:\s+(?:of|for|from)\s+(?:them|those|these|all|each|each of them|all of them))?$/iu;

/** `return their emails`: columns of the rows that the step before gave. */
export function planColumns({ step, plan }: StepContext): boolean {
  const match = COLUMNS.exec(step.text);
  const rows = newestList(plan);
  if (
    match?.[2] === undefined ||
    rows === undefined ||
    plan.values.findLast((value) => !value.isEffect) !== rows
  )
    return false;
  const columns = match[2]
    .split(/\s*,\s*(?:and\s+)?|\s+and\s+/iu)
    .map((word) => toField(singular(word.replace(/^(?:their|the)\s+/iu, ""))));
  const item = rows.schema.items ?? {};
  const isKnown = columns.every((column) => matchProperty(column.replaceAll("_", " "), item) !== undefined);
  const isAsked =
    match[1]?.toLowerCase() === "their" &&
    propertiesOf(item).length === 0 &&
    columns.every((column) => !sameWords(column, rows.words));
  if (!isKnown && !isAsked) return false;
  const picked = pickColumns(plan, rows, { columns });
  if (/^(?:print|output|display)\b/iu.test(step.text)) {
    plan.add({
      kind: "do",
      value: call(
        { kind: "member", of: { kind: "name", name: "console" }, key: "log" },
        printable(picked.expression, picked.schema),
      ),
    });
  }
  return true;
}

/** `count both`: every list that no step has used yet. */
function planCounts({ step, plan }: StepContext): boolean {
  if (
    !/^(?:count|how many)\s+(?:are\s+in\s+)?(?:both|all|each|them all|both of them|each of them)$/iu.test(
      step.text,
    )
  )
    return false;
  const lists = plan.values.filter((value) => hasType(value.schema, "array") && !value.consumed);
  for (const list of lists) {
    list.consumed = true;
    plan.declare(
      { kind: "member", of: list.expression, key: "length" },
      { words: `${singular(list.words)} count`, schema: { type: "number" } },
    );
  }
  return lists.length > 1;
}

/** `sort it`: a list of plain values by themselves. */
function planSort({ step, plan }: StepContext): boolean {
  const match =
    /^(?:sort|order)\s+(?:it|them|this|that|the (?:list|numbers?|values?|items?|names?|array|words))(?:\s+(?:in\s+)?(ascending|descending|alphabetically|numerically)(?:\s+order)?|\s+from\s+(\p{L}+)\s+to\s+\p{L}+)?$/iu.exec(
      step.text,
    );
  const newest = plan.values.at(-1);
  if (match === null || newest === undefined) return false;
  const isFile = newest.document?.isLoaded === true && !newest.document.isDirty;
  const isPlain =
    hasType(newest.schema, "array") && hasType(newest.schema.items ?? {}, "string", "number", "integer");
  if (!isFile && !isPlain) return false;
  const isDown = /^desc/iu.test(match[1] ?? "") || /^(?:high|large|big|z)/iu.test(match[2] ?? "");
  const [first = "a", second = "b"] = isDown ? ["b", "a"] : ["a", "b"];
  newest.consumed = true;
  const compared = call(useHelper("compare"), { kind: "name", name: first }, { kind: "name", name: second });
  const types = isFile ? ["a: unknown", "b: unknown"] : ["a", "b"];
  plan.declare(method(newest.expression, "toSorted", arrow(types, compared)), {
    words: `sorted ${newest.words}`,
    schema: hasType(newest.schema, "array") ? newest.schema : { type: "array" },
  });
  return true;
}

export function planCollection(context: StepContext): boolean {
  const { step, plan } = context;
  if (!STARTS.test(step.text) || !(WORK.test(step.text) || hasFilter(step.text, plan))) return false;
  if (isForOtherTool(context) && !/^(?:filter|sort|take|keep|group|count)\b/iu.test(step.text)) return false;
  if (planCounts(context)) return true;
  const aggregate = plan.values.at(-1)?.group === undefined ? readAggregate(step.text, plan) : undefined;
  if (aggregate !== undefined) {
    plan.declare(aggregate.expression, { words: aggregate.words, schema: { type: "number" } });
    return true;
  }
  const hasRows = plan.values.some((value) => value.schema.type === "array") || plan.document !== undefined;
  if (!hasRows) return false;
  if (planSort(context)) return true;
  const selection = readSelection(step.text);
  const isEmpty =
    selection.filters.length === 0 &&
    selection.sort === undefined &&
    selection.limit === undefined &&
    selection.aggregate === undefined &&
    selection.groupBy === undefined &&
    selection.adjectives.length === 0;
  const [entity] = selection.entity;
  if (entity !== undefined && selection.limit !== undefined && COLUMN_NOUN.test(entity)) {
    selection.columns ??= [toField(singular(entity))];
    selection.entity = [];
  }
  const { group } = plan.values.at(-1) ?? {};
  const regrouped =
    group !== undefined && selection.aggregate !== undefined && selection.groupBy === undefined;
  if (regrouped) selection.groupBy = group.column;
  const rows = regrouped ? group.rows : currentRows(plan, step.text);
  if (rows === undefined) return false;
  if (
    entity !== undefined &&
    /^(?:filter|only|keep|show|select)\b/iu.test(step.text) &&
    selection.filters.length === 0 &&
    selection.adjectives.length === 0 &&
    !sameWords(entity, rows.words) &&
    selection.aggregate === undefined
  ) {
    selection.adjectives.push(entity);
    selection.entity = [];
  } else if (isEmpty) {
    throw new Unfilled({
      step: step.text,
      reason: "missing-argument",
      argument: "condition",
      hint: `Say which ${rows.words} to keep, for example "where price > 10".`,
    });
  }
  if (regrouped) for (const value of plan.values.slice(-1)) value.consumed = true;
  applySelection(plan, rows, selection);
  return true;
}
