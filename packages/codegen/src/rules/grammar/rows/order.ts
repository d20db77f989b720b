import { DIRECTIONS, EXTREMES, ORDINALS, SUPERLATIVES } from "@cem/text";
import type { RowReader } from "./row-reader.ts";
import type { Limit, SortKey } from "./selection.ts";

const SORTED = "sorted|sort|ordered|order|ranked|rank|arranged|arrange";

/** Takes `sorted by age descending`, `ordered by city and then by name`, `cheapest first`. */
export function takeSort(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  const found = cursor.attempt(() => {
    const isSaid = cursor.is(SORTED) || reader.verb === "sort";
    cursor.attempt(() => (isSaid && reader.takeNoun() ? true : undefined));
    return takeKeys(reader, isSaid);
  });
  if (found === undefined || selection.sort.length > 0) return false;
  selection.sort.push(...found);
  return true;
}

function takeKeys(reader: RowReader, isSaid: boolean): SortKey[] | undefined {
  const { cursor, selection, columns } = reader;
  const first = takeEndFirst(reader);
  if (first !== undefined) return [first];
  if (!isSaid) return undefined;
  if (!cursor.is("by|on")) {
    const direction = cursor.phrase(DIRECTIONS) ?? (cursor.isDone ? "ascending" : undefined);
    if (direction === undefined || (columns.keys.length > 0 && !columns.isPlain)) return undefined;
    selection.direction = direction as "ascending";
    return [];
  }
  const keys: SortKey[] = [];
  for (;;) {
    const key = cursor.attempt(() => {
      if (keys.length > 0) {
        const joints = [cursor.one(","), cursor.one("and"), cursor.one("then"), cursor.one("by")];
        if (joints.every((joint) => joint === undefined)) return undefined;
      }
      return takeKey(reader);
    });
    if (key === undefined) break;
    keys.push(key);
  }
  return keys.length > 0 ? keys : undefined;
}

function takeKey(reader: RowReader): SortKey | undefined {
  const { cursor, columns } = reader;
  const ended = takeEndFirst(reader);
  if (ended !== undefined) return ended;
  cursor.skip("their its");
  const extreme = cursor.attempt(() => cursor.phrase(EXTREMES));
  const column = columns.take(cursor);
  if (column === undefined) return undefined;
  if (extreme !== undefined)
    return !cursor.is("first") ? undefined : { column, isDescending: extreme === "high" };
  const direction = cursor.attempt(() => {
    cursor.skip(", ( in");
    const found = cursor.phrase(DIRECTIONS);
    cursor.skip("order )");
    return found;
  });
  return { column, isDescending: direction === "descending" };
}

/** `cheapest first` */
function takeEndFirst({ cursor, columns }: RowReader): SortKey | undefined {
  return cursor.attempt(() => {
    const [property = "", side] = cursor.phrase(SUPERLATIVES)?.split(" ") ?? [];
    const column = side === undefined || !cursor.is("first") ? undefined : columns.property(property);
    return column && { column, isDescending: side === "high" };
  });
}

/** Takes what stands before a noun and says how many of them: `first 3`, `second cheapest`, `5`. */
export function takeQuantity(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  return (
    takeSuperlative(reader) ||
    cursor.attempt(() => {
      if (selection.limit !== undefined) return undefined;
      const isMost = cursor.is("at most|up to|no more than");
      const end = isMost
        ? ""
        : (cursor.one("top|bottom|last|first") ?? cursor.attempt(() => cursor.phrase(ORDINALS)) ?? "");
      const count = takeCount(reader);
      if (end === "" && count === undefined) return undefined;
      const isRanked = end === "top" || end === "bottom";
      if (isRanked && count === undefined) return undefined;
      const place = count === undefined && /^\d+$/u.test(end) ? Number(end) : 1;
      if (count !== undefined && /^\d+$/u.test(end)) return undefined;
      const isFromEnd = end === "last" || end === "bottom";
      selection.limit = {
        count: count ?? 1,
        skipped: place - 1,
        isFromEnd,
        isSingle: count === undefined,
        isRanked,
      };
      return true;
    }) === true
  );
}

function takeCount({ cursor }: RowReader): number | undefined {
  const token = cursor.take(
    (one) => one.kind === "number" && Number.isInteger(one.value) && (one.value as number) > 0,
  );
  return token?.value as number | undefined;
}

/** `3 cheapest`, `second oldest`, `most expensive`. */
function takeSuperlative(reader: RowReader): boolean {
  const { cursor, selection, columns } = reader;
  const found = cursor.attempt(() => {
    cursor.skip("top");
    const before = takeCount(reader);
    const place = before === undefined ? cursor.attempt(() => cursor.phrase(ORDINALS)) : undefined;
    const [property = "", side] = cursor.phrase(SUPERLATIVES)?.split(" ") ?? [];
    const isHigh = side === "high";
    const fallback = property === "age" && isHigh && columns.property("age") === undefined;
    const column = side === undefined ? undefined : columns.property(fallback ? "date" : property);
    if (column === undefined || cursor.token?.lower === "first") return undefined;
    const count = before ?? (place === undefined ? takeCount(reader) : undefined);
    const limit: Limit = {
      count: count ?? 1,
      skipped: Number(place ?? 1) - 1,
      isFromEnd: false,
      isSingle: count === undefined || isOne(reader),
    };
    return { keys: [{ column, isDescending: isHigh !== fallback }], limit };
  });
  if (found === undefined || selection.ranking !== undefined) return false;
  selection.ranking = found;
  return true;
}

/** `the oldest one` */
function isOne({ cursor }: RowReader): boolean {
  const last = cursor.span.all[cursor.at - 1];
  return last !== undefined && cursor.span.source.slice(last.start, last.end).toLowerCase() === "one";
}

/** Takes `with the highest price`, `by price` after "top 3". */
export function takeRanking(reader: RowReader): boolean {
  const { cursor, selection, columns } = reader;
  const found = cursor.attempt(() => {
    if (cursor.is("is|are|was|were") && takeSuperlative(reader)) return "taken" as const;
    cursor.skip("that who which");
    const lead = cursor.one("with|having|by|has|have");
    const { limit } = selection;
    if (lead === undefined) return undefined;
    if (lead === "by") {
      const column = limit?.isRanked === true ? (cursor.skip("their"), columns.take(cursor)) : undefined;
      return (
        column &&
        limit && { keys: [{ column, isDescending: !limit.isFromEnd }], limit: { ...limit, isFromEnd: false } }
      );
    }
    const place = cursor.attempt(() => cursor.phrase(ORDINALS));
    const end = cursor.phrase(EXTREMES);
    const column = end === undefined ? undefined : columns.take(cursor);
    if (
      column === undefined ||
      (limit !== undefined && (limit.isFromEnd || limit.isRanked === true || limit.skipped > 0))
    )
      return undefined;
    const isSingle = limit === undefined ? reader.isSingular : limit.isSingle;
    const skipped = Number(place ?? 1) - 1;
    return {
      keys: [{ column, isDescending: end === "high" }],
      limit: { count: limit?.count ?? 1, skipped, isFromEnd: false, isSingle },
    };
  });
  if (found === "taken") {
    const { ranking, limit } = selection;
    if (ranking === undefined || limit?.isFromEnd === true || (limit?.skipped ?? 0) > 0) return false;
    ranking.limit.isSingle = limit === undefined ? reader.isSingular : limit.isSingle;
    ranking.limit.count = limit?.count ?? ranking.limit.count;
    selection.limit = undefined;
    return true;
  }
  if (found === undefined || selection.ranking !== undefined) return false;
  selection.ranking = found;
  selection.limit = undefined;
  return true;
}

/** Takes `limit 5`, `at most 5 results`, `only the first 3`, behind the noun. */
export function takeLimit(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  if (selection.limit !== undefined) return false;
  const isTaken = cursor.attempt(() => {
    const isLimit = cursor.attempt(() => {
      const isSaid = cursor.is("limit|limited|maximum|max") || reader.verb === "limit";
      cursor.attempt(() => (isSaid && reader.takeNoun() ? true : undefined));
      const isMost = cursor.attempt(() => (cursor.is("at|up") && cursor.is("most|to")) || undefined);
      cursor.skip("to only");
      const count = isSaid || isMost !== undefined ? takeCount(reader) : undefined;
      if (count === undefined) return undefined;
      selection.limit = { count, skipped: 0, isFromEnd: false, isSingle: false };
      const hasNoun = reader.takeNoun() || cursor.is("of");
      return isSaid || hasNoun || undefined;
    });
    if (isLimit === true) return true;
    cursor.skip("take only keep return show get");
    if (!/^(?:first|last|top|bottom)$/u.test(cursor.token?.lower ?? "") || !takeQuantity(reader))
      return undefined;
    cursor.attempt(() => {
      cursor.is("of");
      return reader.takeNoun() || undefined;
    });
    return true;
  });
  if (isTaken !== true) selection.limit = undefined;
  return isTaken === true;
}
