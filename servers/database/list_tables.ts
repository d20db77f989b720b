import { countRows, tableNames, withDatabase } from "./connection.ts";

/** A table and its size. */
export interface TableSummary {
  /** Name of the table. */
  name: string;
  /** How many rows it holds. */
  rows: number;
}

/**
 * List the tables of the database.
 *
 * @returns The tables, sorted by name.
 * @readOnly
 * @idempotent
 */
export async function list_tables(_input: Record<string, never> = {}): Promise<TableSummary[]> {
  return withDatabase({ readOnly: true }, (database) =>
    tableNames(database).map((name) => ({ name, rows: countRows(database, name) })),
  );
}
