import { UNITS } from "@cem/text";
import { useHelper } from "../../program/helpers.ts";
import type { Plan } from "../../planning/plan.ts";
import type { Value } from "../../planning/value.ts";
import {
  arrow,
  binary,
  call,
  type Expression,
  index,
  literal,
  member,
  method,
  name,
} from "../../program/expression.ts";
import { singular } from "../../program/names.ts";
import { cellOf, keyOf } from "./columns.ts";
import { pickCells, pickColumns } from "./lower-columns.ts";
import { lowerCondition } from "./lower-conditions.ts";
import { groupRows } from "./lower-groups.ts";
import { columnsOf, declareNumber, itemName, next, nounOf } from "./lower-value.ts";
import { overColumn, reduceList } from "./reduce.ts";
import type { Limit, Selection, SortKey } from "./selection.ts";

/** Writes what a selection asks of rows, one declared result after the other. Gives the last. */
export function applySelection(plan: Plan, rows: Value, selection: Selection): Value {
  const whole = selection.unit === undefined ? rows : inUnit(rows, selection.unit);
  let current = selection.conditions.length > 0 ? filterRows(plan, whole, selection) : whole;
  const { ranking, sort, limit, aggregate, direction } = selection;
  if (aggregate?.kind === "percent") {
    const share = call(
      useHelper("percentage"),
      member(current.expression, "length"),
      member(whole.expression, "length"),
    );
    return declareNumber(plan, [current, whole], share, "share");
  }
  if (ranking !== undefined) {
    current = sortRows(plan, current, ranking.keys);
    current = cutRows(plan, current, ranking.limit, "top");
  }
  if (sort.length > 0) current = sortRows(plan, current, sort);
  if (direction !== undefined) current = sortPlain(plan, current, direction);
  if (limit !== undefined)
    current = cutRows(plan, current, limit, limit.isRanked === true ? "top" : undefined);
  if (selection.group !== undefined) return groupRows(plan, current, selection, selection.group);
  if (aggregate?.kind === "statistics")
    return next(plan, current, call(useHelper("statisticsOf"), current.expression), "statistics", {
      type: "object",
    });
  if (selection.columns !== undefined) {
    current =
      limit?.isSingle === true || ranking?.limit.isSingle === true
        ? pickCells(plan, current, selection.columns)
        : pickColumns(plan, current, selection.columns, selection.isDistinct === true);
  } else if (selection.isDistinct === true) {
    current = next(
      plan,
      current,
      call(useHelper("distinct"), current.expression),
      `distinct ${nounOf(current)}`,
    );
  }
  return aggregate === undefined ? current : aggregateRows(plan, current, aggregate);
}

function inUnit(rows: Value, unit: string): Value {
  const texts = Object.keys(UNITS).filter((text) => UNITS[text] === unit);
  rows.consumed = true;
  return {
    ...rows,
    expression: call(
      useHelper("inUnit"),
      rows.expression,
      literal(unit),
      ...texts.map((text) => literal(text)),
    ),
  };
}

function filterRows(plan: Plan, rows: Value, { conditions }: Selection): Value {
  const noun = nounOf(rows);
  const row = itemName(noun);
  const tests = conditions.map((condition) =>
    lowerCondition(plan, rows, columnsOf(rows), name(row), condition),
  );
  const [first = literal(true), ...more] = tests;
  const isPredicate =
    more.length === 0 && first.kind === "call" && first.callee.kind === "name" && first.args.length === 1;
  const test = more.reduce((left, right) => binary(left, "&&", right), first);
  const predicate = isPredicate ? first.callee : arrow([row], test);
  const held = conditions.flatMap((condition) => (condition.kind === "holds" ? [condition.word] : []));
  const words = held.length > 0 ? `${held.join(" ")} ${noun}` : `matching ${noun}`;
  return next(plan, rows, method(rows.expression, "filter", predicate), words);
}

function sortRows(plan: Plan, rows: Value, keys: readonly SortKey[]): Value {
  const [first, ...more] = keys.map(({ column, isDescending }) => {
    const [left, right] = isDescending ? ["b", "a"] : ["a", "b"];
    const cell = (row: string): Expression => cellOf(plan, rows, name(row), column);
    return call(useHelper("compare"), cell(left ?? "a"), cell(right ?? "b"));
  });
  const order = more.reduce((before, then) => binary(before, "||", then), first ?? literal(0));
  return next(
    plan,
    rows,
    method(rows.expression, "toSorted", arrow(["a", "b"], order)),
    `sorted ${nounOf(rows)}`,
  );
}

/** Plain values are sorted by themselves. */
function sortPlain(plan: Plan, rows: Value, direction: "ascending" | "descending"): Value {
  const [left, right] = direction === "descending" ? ["b", "a"] : ["a", "b"];
  const order = call(useHelper("compare"), name(left ?? "a"), name(right ?? "b"));
  return next(
    plan,
    rows,
    method(rows.expression, "toSorted", arrow(["a", "b"], order)),
    `sorted ${nounOf(rows)}`,
  );
}

function cutRows(plan: Plan, rows: Value, limit: Limit, place?: string): Value {
  const { count, skipped, isFromEnd, isSingle } = limit;
  const which = place ?? (isFromEnd ? "last" : "first");
  if (isSingle) {
    const one = isFromEnd
      ? method(rows.expression, "at", literal(-1))
      : index(rows.expression, literal(skipped));
    const words = `${which} ${singular(nounOf(rows))}`;
    return next(plan, rows, binary(one, "??", literal(null)), words, rows.schema.items ?? {});
  }
  const args = isFromEnd ? [literal(-count)] : [literal(skipped), literal(skipped + count)];
  return next(plan, rows, method(rows.expression, "slice", ...args), `${which} ${nounOf(rows)}`);
}

function aggregateRows(plan: Plan, rows: Value, aggregate: NonNullable<Selection["aggregate"]>): Value {
  const { kind, column } = aggregate;
  if (kind === "statistics" || kind === "percent") return rows;
  if (kind === "count")
    return declareNumber(plan, [rows], member(rows.expression, "length"), `${singular(nounOf(rows))} count`);
  const isPlain = column === undefined || column.isSelf === true;
  const value = isPlain
    ? reduceList(kind, rows.expression)
    : overColumn(kind, rows.expression, keyOf(plan, rows, column));
  const words = isPlain ? kind : kind === "spread" ? `${column.words} difference` : `${kind} ${column.words}`;
  return declareNumber(plan, [rows], value, words.replaceAll("_", " "));
}
