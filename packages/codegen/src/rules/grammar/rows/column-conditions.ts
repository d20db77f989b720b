import type { JsonValue } from "@cem/core";
import { BOUNDS, COMPARATIVES, COMPARATORS, EQUALITIES, MAKING_VERBS, MEASURES, TEXT_TESTS } from "@cem/text";
import { singular } from "../../program/names.ts";
import type { Column } from "./columns.ts";
import { takeWhen } from "./date-conditions.ts";
import { takeAmount, takeDate, takeName, takeValue, takeWord } from "./literals.ts";
import type { RowReader } from "./row-reader.ts";
import type { Condition } from "./selection.ts";
import { anyOf, BE, negate, takeMore, takeText } from "./value-lists.ts";

const LEADS = "with|where|whose|having|have|has|had|of|for|in|by|from|if|when";

/** Columns that stand behind their value even where they are not known: `in the electronics category`. */
const CLASSES = /^(?:category|status|city|country|department|group|region|state|class|type|role|team)$/u;

/** Words for a column that take their value directly: `aged 40`. */
export const DIRECT = /^(?:aged|priced|costing|cost|costs|worth)$/iu;

/** The columns that a unit can be about. */
const UNIT_COLUMNS: Readonly<Record<string, readonly [property: string, columns: RegExp]>> = {
  years: ["age", /^age/u],
  degrees: ["temperature", /temp/u],
  "°C": ["temperature", /temp/u],
  "°F": ["temperature", /temp/u],
  mm: ["precipitation", /_mm$/u],
  kg: ["weight", /weight|_kg$/u],
  bytes: ["bytes", /^bytes$/u],
};

const MONEY = /price|cost|total|amount|value|salary|revenue|sales|balance|fee|budget|income|measure/u;

/** `older than 40 years`, `is cheaper than $50`. */
export function takeComparative(reader: RowReader): Condition | undefined {
  const { cursor, columns } = reader;
  cursor.skip(BE);
  const [property = "", side] = cursor.phrase(COMPARATIVES)?.split(" ") ?? [];
  if (side === undefined || !cursor.is("than")) return undefined;
  const column = columns.property(property);
  return column && takeBound(reader, column, side === "high" ? ">" : "<");
}

/** `price above 10`, `where city is Berlin or Rome`, `with status active`, `name starting with A`. */
export function takeColumnCondition(reader: RowReader): Condition | undefined {
  const { cursor, columns } = reader;
  const isMade = cursor.attempt(() => {
    cursor.skip(BE);
    return cursor.take((token) => MAKING_VERBS.has(token.lower));
  });
  const lead = cursor.one(isMade === undefined ? LEADS : "by|for");
  if (isMade !== undefined && lead === undefined) return undefined;
  cursor.skip("their its his her");
  const before = lead === undefined ? undefined : cursor.quietly(() => takeValueBefore(reader));
  if (before !== undefined) return before;
  const column = columns.take(cursor);
  if (column === undefined) return undefined;
  const test = cursor.phrase(TEXT_TESTS);
  if (test !== undefined) {
    cursor.skip("word text letter letters");
    const value = takeText(reader) ?? takeGlued(reader);
    return value === undefined ? undefined : { kind: "text", column, test, value };
  }
  const be = cursor.one("is|are|was|were|be|being");
  const bounds = cursor.attempt(() => takeBounds(reader, column)) ?? takeWhen(reader, column);
  if (bounds !== undefined) return bounds;
  const isNot = be !== undefined && cursor.is("not");
  const sign = cursor.phrase(EQUALITIES) ?? cursor.one(":|of");
  if (be !== undefined && sign === undefined && cursor.is("empty|missing|null|unknown|unset"))
    return negate({ kind: "set", column }, !isNot);
  if (be !== undefined && cursor.is("set|known|present")) return negate({ kind: "set", column }, isNot);
  const isStated =
    be !== undefined ||
    sign !== undefined ||
    lead !== undefined ||
    DIRECT.test(column.words) ||
    (column.key !== undefined && /^(?:keep|drop)$/u.test(reader.verb));
  const equal = isStated ? takeEquals(reader, column) : undefined;
  return equal && negate(equal, isNot !== (sign === "!=="));
}

/** `orders over 200`, `people between 20 and 30`: the column that measures such rows. */
export function takeMeasure(reader: RowReader): Condition | undefined {
  const { cursor, columns } = reader;
  cursor.skip(`${BE} with that aged`);
  const { at } = cursor;
  const amount = cursor.attempt(() => {
    cursor.is("between");
    cursor.phrase(COMPARATORS);
    return takeAmount(cursor);
  });
  if (amount === undefined) return undefined;
  cursor.at = at;
  const property = amount.unit === undefined ? undefined : UNIT_COLUMNS[amount.unit]?.[0];
  const isPerson = reader.noun?.word === "people" ? columns.property("age") : undefined;
  const column =
    property === undefined
      ? (isPerson ?? columns.measure())
      : (columns.property(property) ?? columns.anyOf([property], property));
  return column && takeBounds(reader, column);
}

/** `with more than 300 pages` */
export function takeCounted(reader: RowReader): Condition | undefined {
  const { cursor } = reader;
  if (!cursor.is("with|have|has|having")) return undefined;
  const operator = cursor.phrase(COMPARATORS) ?? "===";
  const value = cursor.take((token) => token.kind === "number")?.value;
  const column = value === undefined ? undefined : reader.columns.take(cursor);
  return column && { kind: "compare", column, operator, value: value ?? 0 };
}

/** A number, with its unit, that bounds a column. */
function takeBound(reader: RowReader, column: Column, operator: string): Condition | undefined {
  const amount = takeAmount(reader.cursor);
  if (amount === undefined || !fitsUnit(reader, column, amount.unit)) return undefined;
  return { kind: "compare", column, operator, value: amount.value };
}

function fitsUnit({ selection }: RowReader, column: Column, unit: string | undefined): boolean {
  if (unit === undefined) return true;
  const fits = UNIT_COLUMNS[unit]?.[1] ?? MONEY;
  if (column.isSelf === true || ![column.words, ...column.meanings].some((one) => fits.test(one)))
    return false;
  if (/^(?:years|degrees|mm|kg|bytes)$/u.test(unit)) return true;
  if (selection.unit !== undefined && selection.unit !== unit) return false;
  selection.unit = unit;
  return true;
}

function takeBounds(reader: RowReader, column: Column): Condition | undefined {
  const { cursor } = reader;
  cursor.is("of");
  if (cursor.is("between")) {
    const from = takeBound(reader, column, ">=");
    const to = !cursor.is("and|to") ? undefined : takeBound(reader, column, "<=");
    return from && to && { kind: "all", of: [from, to] };
  }
  const operator = cursor.phrase(COMPARATORS);
  if (operator !== undefined && cursor.token?.kind === "date") {
    const value = takeDate(cursor) ?? "";
    return { kind: "date", column, operator, value };
  }
  if (operator !== undefined) return takeBound(reader, column, operator);
  const exact = takeBound(reader, column, "===");
  const bound = exact && cursor.phrase(BOUNDS);
  return bound === undefined || exact?.kind !== "compare" ? undefined : { ...exact, operator: bound };
}

function takeEquals(reader: RowReader, column: Column): Condition | undefined {
  const { cursor } = reader;
  cursor.skip("either one of in (");
  if (cursor.token?.kind === "date") {
    const value = takeDate(cursor);
    return value === undefined ? undefined : { kind: "date", column, operator: "starts", value };
  }
  if (cursor.token?.kind === "number" || cursor.token?.lower === "-") {
    const bound = cursor.attempt(() => takeBound(reader, column, "==="));
    if (bound?.kind === "compare")
      return anyOf(takeMore(reader, bound.value, takeNumber), (value) => ({ ...bound, value }));
  }
  const value = takeValue(cursor)?.value;
  if (value === undefined || (typeof value === "string" && isMeasured(column))) return undefined;
  const values = takeMore(reader, value, (one) => takeValue(one.cursor)?.value);
  return anyOf(values, (one) => ({ kind: "compare", column, operator: "===", value: one }));
}

function takeNumber({ cursor }: RowReader): JsonValue | undefined {
  return takeAmount(cursor)?.value;
}

/** `in the electronics category`, `with pending status`. */
function takeValueBefore({ cursor, columns }: RowReader): Condition | undefined {
  const value = takeName(cursor) ?? cursor.take((token) => token.kind === "quote")?.value ?? takeWord(cursor);
  const next = cursor.token;
  if (
    value === undefined ||
    next?.kind !== "word" ||
    (columns.keys.length === 0 && !CLASSES.test(next.lower))
  )
    return undefined;
  const column = columns.take(cursor);
  const isOne = column !== undefined && singular(column.words) === column.words;
  return isOne && !isMeasured(column) ? { kind: "compare", column, operator: "===", value } : undefined;
}

/** Columns of numbers, which no word is a value of: `low stock`. */
function isMeasured({ meanings }: Column): boolean {
  return (
    meanings.some((one) => MEASURES.includes(one) || /stock|inventory/u.test(one)) &&
    !meanings.includes("value")
  );
}

/** Characters without a space between them: `.com`. */
function takeGlued({ cursor }: RowReader): string | undefined {
  const run = cursor.run(() => true, 6);
  const end = run.findIndex((token, at) => at > 0 && token.start !== run[at - 1]?.end);
  const glued = end < 0 ? run : run.slice(0, end);
  return glued.length > 0 && cursor.accept(glued.length)
    ? glued.map((token) => token.text).join("")
    : undefined;
}
