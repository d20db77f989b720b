import type { DatabaseSync } from "node:sqlite";
import { quoteName, tableNames } from "./connection.ts";

/** An error that says which tables there are, nearest first. */
export function unknownTable(database: DatabaseSync, table: string, cause?: unknown): Error {
  const names = tableNames(database);
  return new Error(
    `There is no table "${table}". ${suggest(table, names)}The tables are ${names.join(", ")}.`,
    { cause },
  );
}

/** Adds to SQLite's error what there is instead. */
export function explainSqlError(database: DatabaseSync, error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const table = /no such table: (?:main\.)?(.+)/.exec(error.message)?.[1];
  if (table !== undefined) return unknownTable(database, table, error);
  const column = /(?:no such column: |has no column named )(.+?)(?: - should.*)?$/.exec(error.message)?.[1];
  if (column === undefined) return new Error(`The SQL failed: ${error.message}.`, { cause: error });
  const columns = tableNames(database).map((name) => ({ name, columns: columnNames(database, name) }));
  const wanted = column.replaceAll('"', "").split(".").at(-1) ?? column;
  const all = columns.map((entry) => `${entry.name} (${entry.columns.join(", ")})`).join(", ");
  const near = suggest(wanted, [...new Set(columns.flatMap((entry) => entry.columns))]);
  return new Error(`There is no column "${column}". ${near}The columns are ${all}.`, { cause: error });
}

function columnNames(database: DatabaseSync, table: string): string[] {
  return database
    .prepare(`PRAGMA table_info(${quoteName(table)})`)
    .all()
    .map((row) => String(row["name"]));
}

function suggest(wanted: string, names: readonly string[]): string {
  const [nearest] = names
    .map((name) => ({ name, edits: editDistance(wanted.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, edits }) => edits <= Math.ceil(name.length / 3))
    .toSorted((a, b) => a.edits - b.edits);
  return nearest ? `Did you mean "${nearest.name}"? ` : "";
}

/** How many letters have to be added, removed or changed to make one text of the other. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of a.split("").entries()) {
    const next = [i + 1];
    for (const [j, other] of b.split("").entries()) {
      const substitution = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(substitution, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
