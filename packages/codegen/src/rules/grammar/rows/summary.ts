import { AGGREGATES, EXTREMES } from "@cem/text";
import type { Column } from "./columns.ts";
import { takePossessive, takeRows } from "./noun-phrase.ts";
import type { RowReader } from "./row-reader.ts";
import type { AggregateKind } from "./selection.ts";

/** `average age of users`, `total of the prices`, `average order total`, `sum up their totals`. */
export function takeAggregate(reader: RowReader): boolean {
  const { cursor, columns, selection } = reader;
  cursor.skip("their its");
  const kind = cursor.phrase(AGGREGATES) as AggregateKind | undefined;
  if (kind === undefined || kind === "count") return false;
  const isSpan = kind === "spread" && cursor.takes(() => takeBothEnds(reader));
  if (!isSpan) cursor.skip("value of all their its");
  const column = takeSummed(reader, kind);
  const own = ownColumn(reader, kind);
  if (column === undefined && own !== undefined && cursor.takes(() => takeRows(reader))) {
    selection.aggregate = { kind, column: own };
    return true;
  }
  if (column === undefined && !columns.areNumbers && !isAsked(reader, kind)) return false;
  selection.aggregate = { kind, column: column ?? ownColumn(reader, kind) };
  cursor.skip("column field values");
  if (!reader.hasNoun && cursor.is("of|for|in|over|across|among|from|all")) return takeRows(reader);
  return true;
}

/** `between the highest and the lowest` */
function takeBothEnds({ cursor }: RowReader): boolean {
  cursor.is("between");
  const first = cursor.phrase(EXTREMES);
  const second = !cursor.is("and") ? undefined : cursor.phrase(EXTREMES);
  return first !== undefined && second !== undefined && first !== second;
}

function takeSummed(reader: RowReader, kind: AggregateKind): Column | undefined {
  const { cursor } = reader;
  return (
    cursor.attempt(() => {
      const column = reader.takeColumn();
      return column !== undefined && !isNounNext(reader) ? column : undefined;
    }) ??
    cursor.attempt(() => {
      const isNamed = reader.takeNoun();
      takePossessive(reader);
      const column = isNamed ? (reader.takeColumn() ?? ownColumn(reader, kind)) : undefined;
      if (column === undefined) reader.noun = undefined;
      return column;
    })
  );
}

export function isNounNext(reader: RowReader): boolean {
  const { cursor, noun } = reader;
  const { at, furthest } = cursor;
  const isNoun = reader.takeNoun();
  Object.assign(cursor, { at, furthest });
  reader.noun = noun;
  return isNoun;
}

/** `the total of all orders`: orders have a total. */
function ownColumn({ columns }: RowReader, kind: AggregateKind): Column | undefined {
  return kind === "sum" && columns.keys.length > 0 ? columns.named(["total"]) : undefined;
}

/** Plain numbers need no column; "the sum of them" does. */
function isAsked(reader: RowReader, kind: AggregateKind): boolean {
  return ownColumn(reader, kind) !== undefined && (reader.takeNoun() || reader.cursor.isDone);
}
