import { randomUUID } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CemError } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { makeFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "@cem/core/files";
import { losesChanges } from "./folder-log.ts";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, storeConflict } from "./keys.ts";
import { storeUnavailable } from "./unavailable.ts";

const FILE = "store.db";
const BUSY_TIMEOUT_MS = 30_000;
const SWEEP_PERIOD_MS = 600_000;
/** Incremented with each change of the table. A program does not touch the file of a newer version. */
const SCHEMA_VERSION = 2;
const SCHEMA = `
  create table cem_values (key blob primary key, value blob not null, version text not null, expires_at integer) without rowid;
`;
/** Without it, a sweep would read all values that expire, since their time comes after the value. */
const EXPIRY_INDEX =
  "create index if not exists cem_expiry on cem_values (expires_at) where expires_at is not null";
const LIVES = "(expires_at is null or expires_at > ?)";

/** Settings of {@link createFolderStore}. */
export interface FolderStoreSettings {
  /** The folder, which only its owner may enter. Created when missing. */
  folder: string;
  /**
   * The crash that an acknowledged change survives. `machine`: a crash of the machine; each change waits for the disk.
   * `process`: a kill of the process; a crash of the machine loses the last changes only.
   *
   * @defaultValue `machine`
   */
  durability?: "machine" | "process" | undefined;
  /**
   * Called after a damaged database was moved aside and replaced by an empty one, or after a log with lost changes was
   * copied.
   *
   * @defaultValue the store is unusable until somebody moves the file
   */
  onDamaged?: ((movedTo: string) => void) | undefined;
}

/** Creates a store in a folder of one machine, for any number of its processes: a SQLite database, which survives kills. */
export function createFolderStore({ folder, durability = "machine", onDamaged }: FolderStoreSettings): Store {
  const location = path.join(path.resolve(folder), FILE);
  let opened: DatabaseSync | undefined;
  let sweepAt = 0;

  const close = (): void => {
    try {
      opened?.close();
    } finally {
      opened = undefined;
    }
  };

  /** Copies a log with lost changes, while no other process writes. SQLite overwrites it afterwards. */
  const copyBrokenLog = (): string | undefined => {
    const log = `${location}-wal`;
    if (!existsSync(log) || !losesChanges(readFileSync(log))) return undefined;
    if (onDamaged === undefined) throw new Error("changes in its log can't be read");
    const copiedTo = `${log}.damaged-${Date.now()}`;
    copyFileSync(log, copiedTo);
    return copiedTo;
  };

  const sweep = (database: DatabaseSync): void => {
    sweepAt = performance.now() + SWEEP_PERIOD_MS;
    database.prepare("delete from cem_values where expires_at <= ?").run(Date.now());
  };

  const prepare = (database: DatabaseSync): void => {
    // With a write-ahead log, readers and a writer don't block each other; with full synchronization, each change is on
    // disk before it is acknowledged.
    const synchronous = durability === "machine" ? "full" : "normal";
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${synchronous}; begin immediate`);
    const version = Number(database.prepare("pragma user_version").get()?.["user_version"]);
    if (version > SCHEMA_VERSION)
      throw new Error(`it was written by a newer version (${version}, this one knows ${SCHEMA_VERSION})`);
    const copiedTo = copyBrokenLog();
    database.exec(EXPIRY_INDEX);
    sweep(database);
    database.exec(`pragma user_version = ${SCHEMA_VERSION}; commit`);
    if (copiedTo === undefined) return;
    database.exec("pragma wal_checkpoint(truncate)");
    onDamaged?.(copiedTo);
  };

  const open = (): DatabaseSync => {
    makeFolder(path.dirname(location), PRIVATE_FOLDER);
    if (statSync(location, { throwIfNoEntry: false }) === undefined) create(location);
    // SQLite would silently create a new database.
    else if (isEmpty(location)) throw Object.assign(new Error("it is empty"), { errcode: NO_DATABASE });
    const database = new DatabaseSync(location, { timeout: BUSY_TIMEOUT_MS });
    try {
      chmodSync(location, PRIVATE_FILE);
      prepare(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  };

  /** Moves a damaged file aside, unless another process has done so. */
  const beginAnew = (): void => {
    close();
    if (!isDamaged(location)) return;
    const movedTo = `${location}.damaged-${Date.now()}`;
    renameSync(location, movedTo);
    // They belong to the damaged file.
    for (const suffix of ["-wal", "-shm"]) rmSync(location + suffix, { force: true });
    onDamaged?.(movedTo);
  };

  const run = <Result>(action: (database: DatabaseSync) => Result): Result => {
    try {
      return action((opened ??= open()));
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      if (onDamaged === undefined || !(isDamage(error) || isFolder(location)))
        throw storeUnavailable(location, error);
    }
    beginAnew();
    return run(action);
  };

  /** Runs a transaction while no other process changes anything. */
  const change = <Result>(action: (database: DatabaseSync) => Result): Result =>
    run((database) => {
      database.exec("begin immediate");
      try {
        const result = action(database);
        database.exec("commit");
        return result;
      } catch (error) {
        // When the disk is full, SQLite has rolled back already; another rollback would hide the reason.
        if (database.isTransaction) database.exec("rollback");
        throw error;
      }
    });

  return {
    specificationVersion: "v1",
    location,
    async read(key) {
      const found = run((database) =>
        database
          .prepare(`select value, version from cem_values where key = ? and ${LIVES}`)
          .get(encodeKey(key), Date.now()),
      );
      return found && { value: found["value"] as Uint8Array, version: String(found["version"]) };
    },
    async write(key, value, { version, expiresInMs } = {}) {
      checkSize(key, value);
      const next = randomUUID();
      change((database) => {
        requireVersion(database, key, version);
        if (performance.now() >= sweepAt) sweep(database);
        database
          .prepare(
            `insert into cem_values (key, value, version, expires_at) values (?, ?, ?, ?)
               on conflict (key) do update set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
          )
          .run(encodeKey(key), value, next, expiresInMs === undefined ? null : Date.now() + expiresInMs);
      });
      return next;
    },
    async remove(key, version) {
      return change((database) => {
        requireVersion(database, key, version);
        const { changes } = database
          .prepare(`delete from cem_values where key = ? and ${LIVES}`)
          .run(encodeKey(key), Date.now());
        return changes > 0;
      });
    },
    async list(prefix, { after, limit } = {}) {
      const { from, to } = rangeOf(prefix, after);
      const found = run((database) =>
        database
          .prepare(`select key from cem_values where key >= ? and key < ? and ${LIVES} order by key limit ?`)
          .all(from, to, Date.now(), pageSize(limit)),
      );
      return found.map((row) => decodeKey(row["key"] as Uint8Array));
    },
    now: async () => Date.now(),
    async removeAll(prefix) {
      encodeKey(prefix);
      const { from, to } = rangeOf(prefix);
      change((database) =>
        database.prepare("delete from cem_values where key >= ? and key < ?").run(from, to),
      );
    },
    close: async () => close(),
  };
}

function requireVersion(database: DatabaseSync, key: StoreKey, version: string | undefined): void {
  if (version === undefined) return;
  const found = database
    .prepare(`select version from cem_values where key = ? and ${LIVES}`)
    .get(encodeKey(key), Date.now());
  if (String(found?.["version"] ?? "") !== version) throw storeConflict(key);
}

/** Creates the database under another name and moves it into place, so that it is never seen empty. */
function create(location: string): void {
  const made = `${location}.new-${randomUUID()}`;
  const database = new DatabaseSync(made);
  database.exec(`${SCHEMA} pragma user_version = ${SCHEMA_VERSION}`);
  database.close();
  try {
    linkSync(made, location);
  } catch {
    // Another process was faster, or the file system has no links.
    if (statSync(location, { throwIfNoEntry: false }) === undefined) renameSync(made, location);
  } finally {
    rmSync(made, { force: true });
  }
}

const NO_DATABASE = 26;
/** SQLite's codes for files that lack a table or column, are malformed, or are not a database. */
const DAMAGE = new Set([1, 11, NO_DATABASE]);

function isEmpty(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false });
  return found?.isFile() === true && found.size === 0;
}

function isDamage(error: unknown): boolean {
  return DAMAGE.has((error as { errcode?: number }).errcode ?? 0);
}

function isFolder(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}

function isDamaged(file: string): boolean {
  if (isFolder(file) || isEmpty(file)) return true;
  try {
    using database = new DatabaseSync(file, { readOnly: true });
    database.prepare("select key, value, version, expires_at from cem_values");
    return database.prepare("pragma quick_check(1)").get()?.["quick_check"] !== "ok";
  } catch (error) {
    return isDamage(error);
  }
}
