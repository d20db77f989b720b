import { EXTREMES, HIGHER, MAKING_VERBS } from "@cem/text";
import { takeConditions } from "./conditions.ts";
import { takeColumnList } from "./noun-phrase.ts";
import { takeLimit, takeRanking, takeSort } from "./order.ts";
import type { RowReader } from "./row-reader.ts";

/** Takes all that follows the noun. */
export function takeModifiers(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  while (!cursor.isDone) {
    if (takeFiller(reader)) continue;
    const isTaken = cursor.takes(() => {
      cursor.skip(", ; : and but");
      return takeModifier(reader);
    });
    if (!isTaken) return false;
  }
  const { limit, ranking, aggregate } = selection;
  if (limit?.isSingle === true && !reader.isSingular && limit.skipped === 0 && reader.hasNoun)
    selection.limit = { ...limit, isSingle: false };
  if (ranking?.limit.isSingle === true && reader.hasNoun && !reader.isSingular)
    ranking.limit.isSingle = false;
  return aggregate?.kind !== "percent" || selection.group === undefined;
}

function takeModifier(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  const takesNoun = (): boolean => cursor.is("of|for|from|in|across|among|over") && reader.takeNoun();
  if (!reader.hasNoun && cursor.takes(takesNoun)) return true;
  if (takeGroup(reader) || takeMostOf(reader) || takeSort(reader) || takeRanking(reader) || takeLimit(reader))
    return true;
  const condition = takeConditions(reader);
  if (condition !== undefined) {
    selection.conditions.push(condition);
    return true;
  }
  return takeShown(reader);
}

/** Words of a question that ask for nothing more: `are there`, `from the database`. */
function takeFiller({ cursor, selection }: RowReader): boolean {
  if (cursor.is("from database|in database|from db|in db|there are|there is")) return true;
  const counts = selection.aggregate?.kind === "count";
  return counts && cursor.is("are there|is there|in total|exist|altogether|do we have|do i have|do you have");
}

/** `grouped by city`, `per city`, `placed by each user`. */
export function takeGroup(reader: RowReader): boolean {
  const { cursor, selection, verb } = reader;
  const column = cursor.attempt(() => {
    cursor.skip("is are was were");
    cursor.take((token) => token.kind === "word" && MAKING_VERBS.has(token.lower));
    const lead = cursor.one("grouped by|broken down by|per|by|for|in|of");
    const isEach = cursor.is("each|every");
    if (lead === undefined || (/^(?:for|in|of)$/u.test(lead) && !isEach)) return undefined;
    if (lead === "by" && !isEach && verb !== "group" && selection.aggregate === undefined) return undefined;
    const found = reader.takeColumn();
    return cursor.token?.kind === "number" ? undefined : found;
  });
  if (column === undefined || selection.group !== undefined) return false;
  selection.group = column;
  return true;
}

/** `which city has the most users`: the value of a column that the most rows have. */
function takeMostOf(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  const [column, ...more] = selection.columns ?? [];
  if (column === undefined || more.length > 0 || selection.group !== undefined) return false;
  const end = cursor.attempt(() => {
    cursor.skip("with has have that");
    const found = cursor.phrase(EXTREMES) ?? cursor.phrase(HIGHER);
    return found !== undefined && reader.takeNoun() ? found : undefined;
  });
  if (end === undefined) return false;
  selection.columns = undefined;
  selection.group = column;
  selection.aggregate = { kind: "count" };
  selection.largest = end as "high" | "low";
  return true;
}

/** `with only their names`, `but show only the name and email`. */
function takeShown(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  if (selection.columns !== undefined) return false;
  const columns = cursor.attempt(() => {
    const isSaid = cursor.is("return|show|showing|give|with|including|list|only|columns");
    cursor.skip("only columns fields their its");
    const list = isSaid ? takeColumnList(reader) : undefined;
    cursor.skip("columns only fields");
    return list;
  });
  if (columns === undefined) return false;
  selection.columns = columns;
  return true;
}
