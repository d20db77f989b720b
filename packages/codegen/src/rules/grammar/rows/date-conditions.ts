import { DATE_COMPARATORS, MAKING_VERBS } from "@cem/text";
import type { Column } from "./columns.ts";
import { lastDayOf, takeDate } from "./literals.ts";
import type { RowReader } from "./row-reader.ts";
import type { Condition } from "./selection.ts";

/** `who joined in 2023`, `placed after 2024-06-01`, `since March 2024`. */
export function takeEvent(reader: RowReader): Condition | undefined {
  const { cursor, columns } = reader;
  cursor.skip("is are was were have has been");
  const verb = cursor.attempt(() => {
    const token = cursor.take(
      (one) => one.kind === "word" && /^(?:\p{Ll}+ed|made|bought|sent|paid)$/u.test(one.lower),
    );
    cursor.is("up");
    return token?.lower;
  });
  const made = verb === undefined || MAKING_VERBS.has(verb) ? columns.property("date") : undefined;
  const column =
    columns.keys.length === 0 && made !== undefined && verb !== undefined
      ? columns.anyOf([`${verb}_at`, verb, ...made.meanings], verb)
      : ((verb === undefined ? undefined : columns.event(verb)) ?? made);
  return column && takeWhen(reader, column);
}

/** A date behind what compares it. */
export function takeWhen({ cursor }: RowReader, column: Column): Condition | undefined {
  return cursor.attempt((): Condition | undefined => {
    if (cursor.is("between")) {
      const from = takeDate(cursor);
      const to = !cursor.is("and|to") ? undefined : takeDate(cursor);
      if (from === undefined || to === undefined) return undefined;
      const bound = (operator: string, value: string): Condition => ({
        kind: "date",
        column,
        operator,
        value,
      });
      return { kind: "all", of: [bound(">=", from), bound("<=", lastDayOf(to))] };
    }
    const operator = !cursor.is("from") ? cursor.phrase(DATE_COMPARATORS) : "starts";
    const date = operator === undefined ? undefined : takeDate(cursor);
    if (operator === undefined || date === undefined) return undefined;
    if (cursor.is("on|onward|onwards")) return { kind: "date", column, operator: ">=", value: date };
    return {
      kind: "date",
      column,
      operator,
      value: operator === ">" || operator === "<=" ? lastDayOf(date) : date,
    };
  });
}
