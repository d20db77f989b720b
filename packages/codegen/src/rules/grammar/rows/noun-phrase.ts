import { COLUMN_NOUNS, isVerb } from "@cem/text";
import type { Column } from "./columns.ts";
import { DIRECT } from "./column-conditions.ts";
import { type Cursor } from "./cursor.ts";
import { textOf } from "../../language/token.ts";
import { isPlainWord, takeName } from "./literals.ts";
import { takeQuantity } from "./order.ts";
import type { RowReader } from "./row-reader.ts";
import type { Condition } from "./selection.ts";

/** What makes a condition of the column before it. */
const COMPARED = /^(?:is|was|were|[<>=!]+|above|below|over|under|at|contains|than|between)$/u;

/** Verbs after which a word names a column of rows that are not known yet. */
const SHOWS = /^(?:print|log|return|show|give|display|output|extract|collect|report|tell|select)$/u;

/** `names and emails of all users`, `users' names`, `user emails`, `their names`. */
export function takeColumns(reader: RowReader): boolean {
  return takeColumnsOf(reader, false);
}

export function takeColumnsOf(reader: RowReader, isDistinct: boolean): boolean {
  const { cursor, selection } = reader;
  const distinct = cursor.is("distinct|unique|different");
  if (isDistinct && !distinct) return false;
  selection.isDistinct = distinct || undefined;
  const isFirst = takeQuantity(reader);
  const isTheirs = cursor.is("their|its|his|her");
  if (!isTheirs) cursor.skip("each every all");
  const isOwned = !isTheirs && cursor.takes(() => takeOwner(reader));
  const columns = takeColumnList(reader);
  if (columns === undefined) return false;
  selection.columns = columns;
  cursor.skip("columns column fields field values");
  if (COMPARED.test(cursor.token?.lower ?? "")) return false;
  if (isOwned) return true;
  reader.noun = undefined;
  if (cursor.is("of|for|from|in")) return takeRows(reader);
  return (
    isTheirs ||
    isFirst ||
    reader.columns.keys.length > 0 ||
    (cursor.isDone && SHOWS.test(cursor.span.at(0)?.lower ?? "")) ||
    COLUMN_NOUNS.has(columns[0]?.words.toLowerCase() ?? "")
  );
}

/** `user 3's`, `users'`, `user`. */
function takeOwner(reader: RowReader): boolean {
  if (!reader.takeNoun()) return false;
  takeIdentity(reader);
  return takePossessive(reader) || reader.isSingular;
}

export function takePossessive({ cursor }: RowReader): boolean {
  return cursor.is("'s|' s|'");
}

export function takeColumnList(reader: RowReader): Column[] | undefined {
  const { cursor } = reader;
  const list: Column[] = [];
  for (;;) {
    const column = cursor.attempt(() => {
      const joints = [cursor.one(","), cursor.one("and|&")];
      if (list.length > 0 === joints.every((joint) => joint === undefined)) return undefined;
      cursor.skip("their its");
      const found = reader.takeColumn();
      return found !== undefined && DIRECT.test(found.words) ? undefined : found;
    });
    if (column === undefined) break;
    list.push(column);
  }
  return list.length > 0 ? list : undefined;
}

/** `the 3 cheapest active users`, `those`, `the first two`. */
export function takeRows(reader: RowReader): boolean {
  const { cursor, selection } = reader;
  cursor.skip("only all every each any of those these");
  if (cursor.is("distinct|unique|different")) selection.isDistinct = true;
  const isCut = takeQuantity(reader);
  if (isCut) cursor.is("of");
  const { at } = cursor;
  if (reader.takeNoun()) {
    takeIdentity(reader);
    return true;
  }
  cursor.at = at;
  const held = takeAdjectives(reader);
  if (held !== undefined) selection.conditions.push(...held);
  return (
    isCut || held !== undefined || /^(?:only|those|these|all)$/u.test(cursor.span.all[at - 1]?.lower ?? "")
  );
}

/** Words before the noun that a column holds: `active users`, `pending or shipped orders`, `only active`. */
function takeAdjectives(reader: RowReader): Condition[] | undefined {
  const { cursor, columns } = reader;
  const isBare = /^(?:keep|drop)$/u.test(reader.verb) || cursor.span.all[cursor.at - 1]?.lower === "only";
  return cursor.quietly(() => {
    const found: Condition[] = [];
    for (let joint: string | undefined = ""; found.length < 4; joint = cursor.one("or|and|,") ?? "") {
      const before = cursor.at;
      if (found.length > 0 && joint === "" && reader.takeNoun())
        return MENTION.test(reader.noun?.word ?? "") ? undefined : found;
      cursor.at = before;
      const isNot = cursor.is("not|non -|non");
      const isAdjective = (word: string): boolean =>
        isPlainWord(word) &&
        !isVerb(word) &&
        (columns.keys.length === 0 || columns.named([word]) === undefined);
      const token = cursor.take(
        (one) => one.kind === "quote" || (one.kind === "word" && isAdjective(one.lower)),
      );
      if (token === undefined)
        return found.length > 0 && joint === "" && cursor.isDone && isBare ? found : undefined;
      const word = textOf(token);
      const held: Condition = isNot ? { kind: "not", of: { kind: "holds", word } } : { kind: "holds", word };
      const last = found.at(-1);
      if (joint === "" || last === undefined) found.push(held);
      else found[found.length - 1] = { kind: "any", of: [last, held] };
    }
    return undefined;
  });
}

/** Words for rows that nothing can stand before: `active them`. */
const MENTION = /^(?:them|it|they|that|these|those)$/u;

function takeNameOrQuote(cursor: Cursor): string | undefined {
  const quote = cursor.take((token) => token.kind === "quote");
  return quote === undefined ? takeName(cursor) : textOf(quote);
}

/** `user 5`, `the order with id 12`, `user "Bob Smith"`. */
function takeIdentity(reader: RowReader): void {
  const { cursor, columns, selection } = reader;
  if (!reader.isSingular || selection.limit !== undefined) return;
  const value = cursor.attempt(() => {
    cursor.skip("with whose number no id is = #");
    const token = cursor.take(
      (one) => (one.kind === "number" && Number.isInteger(one.value)) || /^#\d+$/u.test(one.text),
    );
    return token === undefined ? undefined : Number(token.text.replace("#", ""));
  });
  const name = value === undefined && columns.keys.length > 0 ? takeNameOrQuote(cursor) : undefined;
  const column = columns.named([value === undefined ? "name" : "id"]);
  const known = value ?? name;
  if (column === undefined || known === undefined) return;
  selection.conditions.push({ kind: "compare", column, operator: "===", value: known });
  selection.limit = { count: 1, skipped: 0, isFromEnd: false, isSingle: true };
}
