import { AGGREGATES, ROW_VERBS, SHARES, STATISTICS } from "@cem/text";
import { takeConditions } from "./conditions.ts";
import { takeGroup, takeModifiers } from "./modifiers.ts";
import { takeColumns, takeColumnsOf, takeRows } from "./noun-phrase.ts";
import { takeSort } from "./order.ts";
import type { RowReader } from "./row-reader.ts";
import { WORK } from "./cursor.ts";
import { isNounNext, takeAggregate } from "./summary.ts";

/** Reads a whole step as a question about rows. What it asks is in `reader.selection`. */
export function readRequest(reader: RowReader, isNounNeeded: boolean): boolean {
  const { cursor } = reader;
  const asks: (() => boolean)[] = [
    () => takeRowCount(reader),
    () => takeCountOf(reader),
    () => takeStatistics(reader),
    () => takeAggregate(reader) && takeModifiers(reader),
    () => reader.verb !== "compute" && takeColumns(reader) && takeModifiers(reader),
    () => reader.verb !== "compute" && takeRows(reader) && takeModifiers(reader),
    () => !isNounNeeded && takeModifiers(reader),
  ];
  const works: (() => boolean)[] = [
    () => takeGroups(reader) && takeModifiers(reader),
    () => reader.verb === "sort" && takeSort(reader) && takeModifiers(reader),
    () => reader.verb === "drop" && takeDuplicates(reader),
    () => takeBareConditions(reader) && takeModifiers(reader),
    () => takeRows(reader) && takeModifiers(reader),
    () => takeModifiers(reader),
    () => reader.verb === "keep" && takeColumns(reader) && takeModifiers(reader),
  ];
  const isRead = [true, false].some((hasVerb) => {
    cursor.at = cursor.span.from;
    const verb = hasVerb ? cursor.attempt(() => cursor.phrase(ROW_VERBS)) : "";
    if (verb === undefined) return false;
    reader.verb = verb;
    if (hasVerb) cursor.skip(verb === "keep" ? "all back only where for" : "all back only");
    return (WORK.test(verb) ? works : asks).some((form) =>
      reader.whole(() => form() && (reader.hasNoun || !isNounNeeded)),
    );
  });
  if (isRead && reader.verb === "drop") dropThem(reader);
  return isRead && isSensible(reader);
}

function dropThem({ selection }: RowReader): void {
  const [only, ...more] = selection.conditions;
  if (only !== undefined)
    selection.conditions = [
      { kind: "not", of: more.length === 0 ? only : { kind: "all", of: [only, ...more] } },
    ];
}

/** Removing needs a condition, and "top 3" an order. */
function isSensible(reader: RowReader): boolean {
  const { verb, selection, isSorted } = reader;
  const { conditions, limit, sort, aggregate } = selection;
  if (clashes(reader)) {
    reader.problem = "This asks for several things of which the order is not clear. Say it in two steps.";
    return false;
  }
  if (verb === "drop" && selection.isDistinct === true) return true;
  if (verb === "drop") return conditions.length > 0 && limit === undefined && aggregate === undefined;
  if (verb === "group") return selection.group !== undefined;
  if (verb === "sort" && sort.length === 0 && selection.direction === undefined) {
    reader.problem = `Say by which column to sort: "sort them by ${reader.columns.keys[0] ?? "name"}".`;
    return false;
  }
  if (limit?.isRanked !== true || sort.length > 0 || isSorted) return true;
  reader.problem = `Say by what to rank: "top ${limit.count} by price".`;
  return false;
}

/** Whether parts of the question can't be done in one go, or not in an order that is sure. */
function clashes({ selection, cursor }: RowReader): boolean {
  const { aggregate, group, columns, isDistinct, limit, ranking, sort, conditions, direction } = selection;
  const isCut = limit !== undefined || ranking !== undefined;
  const isCount = aggregate?.kind === "count";
  if (aggregate !== undefined && columns !== undefined && !(isCount && isDistinct === true)) return true;
  if (group !== undefined && (isCut || sort.length > 0 || isDistinct === true || columns !== undefined))
    return true;
  if (aggregate?.kind === "percent" && (isCut || sort.length > 0)) return true;
  if (direction !== undefined && columns !== undefined) return true;
  const isOfSome = /\b(?:how many|which|who|what) of\b/u.test(cursor.span.lower) && isCut;
  return conditions.length > 0 && (isOfSome || (isCount && isCut));
}

/** `how many rows does the orders table have` */
function takeRowCount(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  if (!cursor.is("how many rows|how many records|how many entries") || !cursor.is("does|do|are|has"))
    return false;
  cursor.skip("there in");
  if (!reader.takeNoun()) return false;
  cursor.skip("have contain there has");
  selection.aggregate = { kind: "count" };
  return true;
}

/** `how many orders are pending`, `count the active users`, `what percent of the users are active`. */
function takeCountOf(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  const isShare = cursor.phrase(SHARES) !== undefined;
  const isCount = cursor.is("how many") || cursor.takes(() => cursor.phrase(AGGREGATES) === "count");
  if (!isShare && !isCount) return false;
  if (isCount) cursor.is("how many");
  cursor.skip("of all");
  selection.aggregate = { kind: isShare ? "percent" : "count" };
  if (cursor.isDone) return !isShare;
  const isRead = cursor.takes(() => takeColumnsOf(reader, true)) || takeRows(reader);
  return (
    (isRead || !reader.hasNoun) && takeModifiers(reader) && (!isShare || selection.conditions.length > 0)
  );
}

function takeStatistics(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  if (cursor.phrase(STATISTICS) === undefined) return false;
  selection.aggregate = { kind: "statistics" };
  if (cursor.isDone) return true;
  return cursor.is("of|for|on|about|over") && takeRows(reader) && takeModifiers(reader);
}

/** `remove duplicates` */
function takeDuplicates({ cursor, selection }: RowReader): boolean {
  selection.isDistinct = cursor.is(
    "duplicates|duplicate rows|duplicate entries|duplicate values|all duplicates",
  );
  return selection.isDistinct;
}

/** `group the users by city` */
function takeGroups(reader: RowReader): boolean {
  if (reader.verb !== "group") return false;
  reader.takeNoun();
  return takeGroup(reader);
}

/** `filter where price > 10`, `only those in Rome`. */
function takeBareConditions(reader: RowReader): boolean {
  if (reader.columns.keys.length === 0 && isNounNext(reader)) return false;
  const condition = /^(?:keep|drop)$/u.test(reader.verb) ? takeConditions(reader) : undefined;
  if (condition !== undefined) reader.selection.conditions.push(condition);
  return condition !== undefined;
}
