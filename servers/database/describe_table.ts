import { countRows, quoteName, tableNames, withDatabase } from "./connection.ts";
import { unknownTable } from "./near-names.ts";

/** Which table to describe. */
export interface DescribeTableInput {
  /** Name of the table: `users`, `orders` or `products`. */
  table: string;
}

/** One column of a table. */
export interface ColumnDescription {
  /** Name of the column. */
  name: string;
  /** Declared type, such as TEXT, INTEGER or REAL. */
  type: string;
  /** Whether the column may be NULL. */
  nullable: boolean;
  /** Whether the column belongs to the primary key. */
  primary_key: boolean;
}

/** A table's columns and size. */
export interface TableDescription {
  /** Name of the table. */
  table: string;
  /** How many rows it holds. */
  rows: number;
  /** Its columns, in order. */
  columns: ColumnDescription[];
}

/**
 * Describe a table of the database: its columns with their types, and how many rows it has.
 *
 * @returns The table's columns and size.
 * @readOnly
 * @idempotent
 */
export async function describe_table(input: DescribeTableInput): Promise<TableDescription> {
  const given: unknown = input?.table;
  if (typeof given !== "string") {
    throw new TypeError(
      'describe_table needs a table\'s name as "table". Call describe_table({ table: "users" }).',
    );
  }
  return withDatabase({ readOnly: true }, (database) => {
    const table = tableNames(database).find((name) => name.toLowerCase() === given.trim().toLowerCase());
    if (table === undefined) throw unknownTable(database, given);
    const columns = database.prepare(`PRAGMA table_info(${quoteName(table)})`).all();
    return {
      table,
      rows: countRows(database, table),
      columns: columns.map((column) => ({
        name: String(column["name"]),
        type: String(column["type"]),
        nullable: column["notnull"] === 0 && column["pk"] === 0,
        primary_key: column["pk"] !== 0,
      })),
    };
  });
}
