import { withDatabase } from "./connection.ts";
import { explainSqlError } from "./near-names.ts";
import { readRows, toParameters } from "./rows.ts";
import type { Row, SqlValue } from "./rows.ts";
import { checkStatement } from "./statement.ts";

/** A query of the database. */
export interface QueryInput {
  /**
   * One SQL statement (SQLite): `SELECT * FROM users WHERE status = 'active'`. There are the tables users (id, name, email,
   * age, city, status, created_at), orders (id, user_id, product_id, quantity, total, status, created_at) and products
   * (id, name, category, price, stock).
   */
  sql: string;
  /** Values for the `?` placeholders, in order. */
  params?: SqlValue[];
  /**
   * Allow statements that change data or tables.
   *
   * @default false
   */
  allow_writes?: boolean;
}

/**
 * Query the database with SQL, read-only unless writes are allowed, and return the rows. Use it to get users, orders or
 * products.
 *
 * @returns The rows, one object per row with the columns as properties. A statement that changes data returns one row with
 * `changes` and `last_insert_rowid`.
 */
export async function query(input: QueryInput): Promise<Row[]> {
  const { sql, params = [], allow_writes: allowWrites = false } = input ?? {};
  if (typeof sql !== "string") {
    throw new TypeError('query needs a string as "sql". Call query({ sql: "SELECT * FROM users" }).');
  }
  if (!Array.isArray(params))
    throw new TypeError('query needs an array as "params", in the order of the ? placeholders.');
  const statement = checkStatement(sql, allowWrites);
  const values = toParameters(statement, params);
  return withDatabase({ readOnly: !statement.writes }, (database) => {
    try {
      return readRows(database, statement, values);
    } catch (error) {
      throw explainSqlError(database, error);
    }
  });
}
