import { DatabaseSync } from "node:sqlite";
import { SCHEMA, SEED_VERSION, seedStatements } from "./seed.ts";

/** In the current directory, which is the workspace. */
const DATABASE_FILE = "./database.sqlite";
const BUSY_TIMEOUT_MS = 10_000;

/** Opens the database for one piece of work, with its sample data in place, and closes it. */
export function withDatabase<Result>(
  options: { readOnly: boolean },
  work: (database: DatabaseSync) => Result,
): Result {
  try {
    ensureSeeded();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes("not a database")) throw error;
    throw new Error("database.sqlite in the workspace is not a SQLite database. Rename or remove it.", {
      cause: error,
    });
  }
  const database = open(options.readOnly);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

function open(readOnly: boolean): DatabaseSync {
  const database = new DatabaseSync(DATABASE_FILE, { readOnly });
  database.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA trusted_schema = OFF;`);
  return database;
}

/** Two runs may come here at once: the write lock lets one seed, and the other then finds it done. */
function ensureSeeded(): void {
  const database = open(false);
  try {
    if (isSeeded(database)) return;
    // Sample data can be made again: it is not worth waiting for the disk.
    database.exec("PRAGMA synchronous = OFF");
    database.exec("BEGIN IMMEDIATE");
    try {
      if (!isSeeded(database)) {
        database.exec(SCHEMA);
        for (const { sql, rows } of seedStatements()) {
          const insert = database.prepare(sql);
          for (const row of rows) insert.run(...row);
        }
        database.exec(`PRAGMA user_version = ${SEED_VERSION}`);
      }
      database.exec("COMMIT");
    } catch (error) {
      database.exec("ROLLBACK");
      throw error;
    }
  } finally {
    database.close();
  }
}

/** A database that somebody else made is left as it is. */
function isSeeded(database: DatabaseSync): boolean {
  const version = database.prepare("PRAGMA user_version").get()?.["user_version"];
  return version !== 0 || tableNames(database).length > 0;
}

/** The names of all tables and views, sorted. */
export function tableNames(database: DatabaseSync): string[] {
  return database
    .prepare(
      "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
    )
    .all()
    .map((row) => String(row["name"]));
}

export function countRows(database: DatabaseSync, table: string): number {
  return Number(database.prepare(`SELECT count(*) AS rows FROM ${quoteName(table)}`).get()?.["rows"]);
}

/** A name as SQL takes it, whatever characters are in it. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
