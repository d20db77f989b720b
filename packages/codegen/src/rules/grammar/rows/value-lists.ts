import type { JsonValue } from "@cem/core";
import { textOf } from "../../language/token.ts";
import { takeLetter, takeName, takeWord } from "./literals.ts";
import type { RowReader } from "./row-reader.ts";
import type { Condition } from "./selection.ts";

export const BE = "is are was were be being";

export function takeText({ cursor }: RowReader): string | undefined {
  if (cursor.isDone) return takeLetter(cursor);
  const quote = cursor.take((token) => token.kind === "quote");
  return quote === undefined ? (takeName(cursor) ?? takeWord(cursor)) : textOf(quote);
}

/** More values after the first, where a list ends a phrase: `Berlin, Rome or Oslo`. */
export function takeMore<Value extends JsonValue>(
  reader: RowReader,
  first: Value,
  take: (reader: RowReader) => Value | undefined,
  joints = "or|and",
): readonly Value[] {
  const values = [first];
  const { cursor } = reader;
  for (;;) {
    const value = cursor.attempt(() => {
      const isJoined = cursor.is(",");
      if (!cursor.is(joints) && !isJoined) return undefined;
      cursor.skip("in from");
      const found = take(reader);
      return found === undefined || !endsPhrase(reader) ? undefined : found;
    });
    if (value === undefined) break;
    values.push(value);
  }
  cursor.one(")");
  return values;
}

/** Whether a value is the last of its phrase, rather than a column with a comparator of its own. */
function endsPhrase({ cursor }: RowReader): boolean {
  const next = cursor.token;
  return (
    next === undefined ||
    !/^(?:is|are|was|were|in|from|[<>=!]+|above|below|over|under|at|contains|than|by|between|of)$/u.test(
      next.lower,
    )
  );
}

export function anyOf<Value>(values: readonly Value[], make: (value: Value) => Condition): Condition {
  const parts = values.map(make);
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "any", of: parts };
}

export function negate(condition: Condition, isNegated: boolean): Condition {
  return isNegated ? { kind: "not", of: condition } : condition;
}
