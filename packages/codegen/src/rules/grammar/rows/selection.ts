import type { JsonValue } from "@cem/core";
import type { Column } from "./columns.ts";

/** A condition on a row. */
export type Condition =
  | { kind: "compare"; column: Column; operator: string; value: JsonValue }
  /** Dates are compared as text; `starts` is within the year, month or day. */
  | { kind: "date"; column: Column; operator: string; value: string }
  | { kind: "text"; column: Column; test: string; value: string }
  /** The column has a value. */
  | { kind: "set"; column: Column }
  /** Some column holds the word, or is of that name and true. */
  | { kind: "holds"; word: string }
  | { kind: "not"; of: Condition }
  | { kind: "all" | "any"; of: readonly Condition[] };

export interface SortKey {
  column: Column;
  isDescending: boolean;
}

/** Some rows at one end of a list. */
export interface Limit {
  count: number;
  /** How many are passed over before them. */
  skipped: number;
  isFromEnd: boolean;
  /** One row itself is asked for, not a list of one. */
  isSingle: boolean;
  /** `top 3`: there has to be an order. */
  isRanked?: boolean | undefined;
}

export type AggregateKind = "sum" | "average" | "median" | "max" | "min" | "count" | "spread";

/** What a text asks of a list of rows, in the order in which it is done. */
export interface Selection {
  conditions: Condition[];
  /** The unit that a number was given in, which the rows must not contradict. */
  unit?: string | undefined;
  /** `the 3 cheapest`. */
  ranking?: { keys: SortKey[]; limit: Limit } | undefined;
  sort: SortKey[];
  /** Plain values are sorted by themselves. */
  direction?: "ascending" | "descending" | undefined;
  limit?: Limit | undefined;
  group?: Column | undefined;
  /** `the city with the most users`. */
  largest?: "high" | "low" | undefined;
  aggregate?: { kind: AggregateKind | "statistics" | "percent"; column?: Column | undefined } | undefined;
  columns?: Column[] | undefined;
  isDistinct?: boolean | undefined;
}

export function isEmpty(selection: Selection): boolean {
  const { conditions, sort, ...rest } = selection;
  return (
    conditions.length === 0 && sort.length === 0 && Object.values(rest).every((part) => part === undefined)
  );
}
