export type Comparison = ">" | ">=" | "<" | "<=" | "===" | "!==";

/** One condition on a row. Without a field, any column may hold the value. */
export interface RowFilter {
  field?: string | undefined;
  comparison: Comparison | "contains" | "starts" | "ends" | "matches";
  value: string | number | boolean | null;
  /** `orders over 100` names no column: the one that measures such rows is meant. */
  isMeasure?: boolean | undefined;
  /** The column holds dates. */
  isDate?: boolean | undefined;
  /** `from London`: a column of places, where the columns are known. */
  isPlace?: boolean | undefined;
  isNegated?: boolean | undefined;
  /** Other conditions, of which one is enough. */
  or?: RowFilter[] | undefined;
}

/** What a text asks of a list of rows. */
export interface RowSelection {
  filters: RowFilter[];
  sort?: { field: string; isDescending: boolean } | undefined;
  /** At most so many; 1 with `isSingle` asks for the one row itself. */
  limit?: { count: number; fromEnd: boolean; isSingle: boolean; isTop?: boolean | undefined } | undefined;
  groupBy?: string | undefined;
  aggregate?:
    | {
        kind: "sum" | "average" | "max" | "min" | "count" | "median" | "statistics";
        field?: string | undefined;
      }
    | undefined;
  columns?: string[] | undefined;
  isDistinct?: boolean | undefined;
  /** Nouns that are left: what the rows are. */
  entity: string[];
  /** An adjective before the noun, for names: `active`. */
  adjectives: string[];
  /** Words that were not understood. */
  rest: string;
}

export const FIELD = "[\\p{L}_][\\p{L}\\p{N}_]*(?:\\s+(?:id|name|date|at|count|price|total|amount))?";

/** A field as it is likely written in data: `created at` to `created_at`. */
export function toField(words: string): string {
  return words.trim().replaceAll(/\s+/gu, "_");
}
