export type Comparison = ">" | ">=" | "<" | "<=" | "===" | "!==";

/** One condition on a row. Without a field, any column may hold the value. */
export interface RowFilter {
  field?: string;
  comparison: Comparison | "contains" | "starts" | "ends" | "matches";
  value: string | number | boolean | null;
  /** `orders over 100` names no column: the one that measures such rows is meant. */
  isMeasure?: boolean;
  /** The column holds dates. */
  isDate?: boolean;
  /** `from London`: a column of places, where the columns are known. */
  isPlace?: boolean;
  isNegated?: boolean;
  /** Other conditions, of which one is enough. */
  or?: RowFilter[];
}

/** What a text asks of a list of rows. */
export interface RowSelection {
  filters: RowFilter[];
  sort?: { field: string; isDescending: boolean };
  /** At most so many; 1 with `isSingle` asks for the one row itself. */
  limit?: { count: number; fromEnd: boolean; isSingle: boolean; isTop?: boolean };
  groupBy?: string;
  aggregate?: { kind: "sum" | "average" | "max" | "min" | "count" | "median" | "statistics"; field?: string };
  columns?: string[];
  isDistinct?: boolean;
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
