import { COMPARATORS, NEGATIONS, PEOPLE, PLACE_COLUMNS, ROW_PRONOUNS } from "@cem/text";
import { takeColumnCondition, takeComparative, takeCounted, takeMeasure } from "./column-conditions.ts";
import { takeEvent } from "./date-conditions.ts";
import { isPlainWord, takeAmount, takeValue } from "./literals.ts";
import type { RowReader } from "./row-reader.ts";
import type { Condition } from "./selection.ts";
import { anyOf, BE, negate, takeMore, takeText } from "./value-lists.ts";

/** Takes conditions that "and" or "or" joins; both in one go can't be told apart. */
export function takeConditions(reader: RowReader): Condition | undefined {
  const { cursor } = reader;
  const first = takeCondition(reader);
  if (first === undefined) return undefined;
  const parts = [first.condition];
  let joint: string | undefined;
  while (!first.isException) {
    const { furthest } = cursor;
    const next = cursor.attempt(() => {
      const word = takeJoint(reader);
      if (word === undefined) return undefined;
      if (joint !== undefined && word !== joint) {
        cursor.furthest = furthest;
        return undefined;
      }
      const found = takeCondition(reader);
      if (found !== undefined) joint = word;
      return found;
    });
    if (next === undefined) break;
    parts.push(next.condition);
  }
  return parts.length === 1 ? first.condition : { kind: joint === "or" ? "any" : "all", of: parts };
}

function takeJoint({ cursor }: RowReader): "and" | "or" | undefined {
  const isListed = cursor.is(",");
  const word = cursor.one("and|but|&&|or");
  return word === undefined && !isListed ? undefined : word === "or" ? "or" : "and";
}

/** Takes one condition. After an exception ("except those in Rome") nothing can be joined to it. */
function takeCondition(reader: RowReader): { condition: Condition; isException: boolean } | undefined {
  const { cursor } = reader;
  return cursor.attempt(() => {
    cursor.is("that|which|who");
    const negation = cursor.phrase(NEGATIONS);
    const isException = negation === "except";
    if (isException) {
      if (!reader.takeNoun()) cursor.phrase({ ...ROW_PRONOUNS, ...PEOPLE });
      cursor.is("that|which|who");
    }
    const condition =
      takeBody(reader, negation !== undefined) ?? (isException ? takeHeld(reader) : undefined);
    if (condition === undefined) return undefined;
    return { condition: negation === undefined ? condition : { kind: "not", of: condition }, isException };
  });
}

function takeBody(reader: RowReader, isNegated: boolean): Condition | undefined {
  for (const read of FORMS) {
    const found = reader.cursor.attempt(() => read(reader, isNegated));
    if (found !== undefined) return found;
  }
  return undefined;
}

const FORMS: readonly ((reader: RowReader, isNegated: boolean) => Condition | undefined)[] = [
  takeStock,
  takeComparative,
  takeEvent,
  takeColumnCondition,
  takeCounted,
  takeMeasure,
  takePlace,
  takeNamed,
  takePresence,
  takeState,
];

/** `in stock`, `out of stock`, `with more than 5 in stock`. */
function takeStock({ cursor, columns }: RowReader): Condition | undefined {
  cursor.skip(`${BE} currently with have has having`);
  const operator = cursor.phrase(COMPARATORS);
  const amount = operator === undefined ? undefined : takeAmount(cursor);
  cursor.is("items|units|pieces");
  const isOut = amount === undefined && cursor.is("out");
  if (!cursor.is(isOut ? "of" : "in") || (operator === undefined) !== (amount === undefined))
    return undefined;
  const word = cursor.one("stock|inventory");
  const column = word === undefined ? undefined : columns.anyOf(["stock", "inventory", "in_stock"], word);
  if (column === undefined) return undefined;
  const value = amount?.value ?? 0;
  return { kind: "compare", column, operator: operator ?? (isOut ? "===" : ">"), value };
}

/** `in Berlin`, `from London or Rome`, `who live in "New York"`, `in electronics`. */
function takePlace(reader: RowReader): Condition | undefined {
  const { cursor, columns } = reader;
  cursor.skip(`${BE} live lives living based located come comes currently`);
  const isNot = cursor.is("not");
  if (!cursor.is("in|from")) return undefined;
  const value = takeText(reader);
  if (value === undefined) return undefined;
  const isName = /^\p{Lu}/u.test(value);
  const places = columns.keys.filter((key) => PLACE_COLUMNS.has(key.toLowerCase()));
  const column = isName && places.length === 1 ? columns.anyOf(places, "place") : undefined;
  const values = takeMore(reader, value, takeText);
  return negate(
    anyOf(values, (one) =>
      column === undefined
        ? { kind: "holds", word: one }
        : { kind: "compare", column, operator: "===", value: one },
    ),
    isNot,
  );
}

function takeNamed({ cursor, columns }: RowReader): Condition | undefined {
  cursor.skip(BE);
  const value = !cursor.is("named|called") ? undefined : takeValue(cursor)?.value;
  const column = columns.named(["name"]);
  return column && value !== undefined ? { kind: "compare", column, operator: "===", value } : undefined;
}

/** `without an email`, `that have no phone`, `with a phone`. */
function takePresence({ cursor, columns }: RowReader): Condition | undefined {
  const lead = cursor.one("without|lacking|missing|with|have|has|having");
  const isNone = /^(?:without|lacking|missing)$/u.test(lead ?? "") || cursor.is("no");
  const isOne = /^an?$/u.test(cursor.span.all[cursor.at]?.lower ?? "") || cursor.is("any");
  const column = lead === undefined || (!isNone && !isOne) ? undefined : columns.take(cursor);
  if (column?.meanings.some((one) => /stock|inventory/u.test(one)) === true)
    return { kind: "compare", column, operator: isNone ? "===" : ">", value: 0 };
  return column && negate({ kind: "set", column }, isNone);
}

/** `are pending`, `is not active`, `marked as paid`. */
function takeState(reader: RowReader, isNegated: boolean): Condition | undefined {
  const { cursor } = reader;
  const be = cursor.one("is|are|was|were|be|being|marked");
  if (be === undefined && !isNegated) return undefined;
  cursor.skip("currently still as either marked");
  const isNot = cursor.is("not");
  const found = takeHeld(reader);
  return found && negate(found, isNot);
}

/** Words of which some column holds one. */
function takeHeld(reader: RowReader): Condition | undefined {
  const word = takeText(reader);
  if (word === undefined || !isPlainWord(word.toLowerCase().split(" ")[0] ?? "")) return undefined;
  return anyOf(takeMore(reader, word, takeText, "or"), (one) => ({ kind: "holds", word: one }));
}
