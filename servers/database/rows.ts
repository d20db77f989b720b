import { Buffer } from "node:buffer";
import type { DatabaseSync } from "node:sqlite";
import type { Statement } from "./statement.ts";

/** A value of a column. Integers beyond 2^53 come as text, binary data as base64 text. */
export type SqlValue = string | number | null;

/** One row: the value of each column by its name. */
export type Row = Record<string, SqlValue>;

/** Runs a statement and returns its rows as plain data. */
export function readRows(database: DatabaseSync, statement: Statement, values: readonly SqlValue[]): Row[] {
  const prepared = database.prepare(statement.sql);
  prepared.setReadBigInts(true);
  const columns = prepared.columns();
  if (columns.length === 0) {
    const { changes, lastInsertRowid } = prepared.run(...values);
    return [{ changes: fromSql(changes), last_insert_rowid: fromSql(lastInsertRowid) }];
  }
  prepared.setReturnArrays(true);
  const names = uniqueNames(columns);
  const rows = prepared.all(...values) as unknown as unknown[][];
  return rows.map((row) =>
    Object.fromEntries(row.map((value, index) => [names[index] ?? `column_${index}`, fromSql(value)])),
  );
}

/** In a join, both tables may have a column of one name: the later one gets its table's name in front. */
function uniqueNames(columns: readonly { name: string; table: string | null }[]): string[] {
  const taken = new Set<string>();
  return columns.map(({ name, table }) => {
    let unique = name;
    if (taken.has(unique) && table !== null) unique = `${table}_${name}`;
    for (let count = 2; taken.has(unique); count += 1) unique = `${name}_${count}`;
    taken.add(unique);
    return unique;
  });
}

function fromSql(value: unknown): SqlValue {
  if (typeof value === "bigint") {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return typeof value === "string" || typeof value === "number" ? value : null;
}

/** Checks the values for the placeholders. */
export function toParameters(statement: Statement, params: readonly unknown[]): SqlValue[] {
  const { placeholders } = statement;
  if (placeholders !== null && placeholders !== params.length) {
    throw new TypeError(
      `The SQL has ${placeholders} ? placeholders, and params holds ${params.length} values.`,
    );
  }
  return params.map(toParameter);
}

function toParameter(value: unknown, index: number): SqlValue {
  if (value === null || typeof value === "string") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "boolean") return value ? 1 : 0;
  throw new TypeError(`params[${index}] must be a string, a finite number, a boolean or null.`);
}
