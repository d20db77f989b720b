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
import type { Store, StoredValue, StoreKey, WriteOptions } from "@cem/core";
import { makeFolder, PRIVATE_FILE, PRIVATE_FOLDER } from "@cem/core/files";
import { losesChanges } from "./folder-log.ts";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, storeConflict } from "./keys.ts";
import { storeUnavailable } from "./unavailable.ts";

const FILE = "store.db";
const BUSY_TIMEOUT_MS = 30_000;
const SCHEMA_VERSION = 2;
const SCHEMA = `
  create table cem_values (key blob primary key, value blob not null, version text not null, expires_at integer) without rowid;
`;
/** Logs and counters, which the first version had. */
const REMOVED = "drop table if exists cem_logs; drop table if exists cem_counters;";
const LIVES = "(expires_at is null or expires_at > ?)";

/** Settings of {@link createFolderStore}. */
export interface FolderStoreSettings {
  /** The folder, which only its owner may enter. It is made when it is missing. */
  folder: string;
  /**
   * The crash that an acknowledged change survives. `machine`: a crash of the machine, for which each change waits for
   * the disk. `process`: a kill of the process; a crash of the machine loses the last changes and harms no others.
   *
   * @defaultValue `machine`
   */
  durability?: "machine" | "process" | undefined;
  /**
   * Called once a file that is no database of this store was moved aside, and an empty one begun; or once a log of which
   * changes can't be read was copied, and these are lost.
   *
   * @defaultValue the store is not usable until somebody moves the file
   */
  onDamaged?: ((movedTo: string) => void) | undefined;
}

/** A store in a folder of one machine, for any number of its processes: a SQLite database, which survives a kill. */
export function createFolderStore(settings: FolderStoreSettings): Store {
  return new FolderStore(settings);
}

class FolderStore implements Store {
  readonly specificationVersion = "v1";
  readonly location: string;
  readonly #folder: string;
  readonly #synchronous: "full" | "normal";
  readonly #onDamaged: FolderStoreSettings["onDamaged"];
  #database: DatabaseSync | undefined;

  constructor({ folder, durability = "machine", onDamaged }: FolderStoreSettings) {
    this.#folder = path.resolve(folder);
    this.#synchronous = durability === "machine" ? "full" : "normal";
    this.#onDamaged = onDamaged;
    this.location = path.join(this.#folder, FILE);
  }

  async read(key: StoreKey): Promise<StoredValue | undefined> {
    const found = this.#run((database) =>
      database
        .prepare(`select value, version from cem_values where key = ? and ${LIVES}`)
        .get(encodeKey(key), Date.now()),
    );
    return found && { value: found["value"] as Uint8Array, version: String(found["version"]) };
  }

  async write(
    key: StoreKey,
    value: Uint8Array,
    { version, expiresInMs }: WriteOptions = {},
  ): Promise<string> {
    checkSize(key, value);
    const next = randomUUID();
    this.#change((database) => {
      this.#requireVersion(database, key, version);
      database
        .prepare(
          `insert into cem_values (key, value, version, expires_at) values (?, ?, ?, ?)
             on conflict (key) do update set value = excluded.value, version = excluded.version, expires_at = excluded.expires_at`,
        )
        .run(encodeKey(key), value, next, expiryOf(expiresInMs));
    });
    return next;
  }

  async remove(key: StoreKey, version?: string): Promise<boolean> {
    return this.#change((database) => {
      this.#requireVersion(database, key, version);
      const { changes } = database
        .prepare(`delete from cem_values where key = ? and ${LIVES}`)
        .run(encodeKey(key), Date.now());
      return changes > 0;
    });
  }

  async list(
    prefix: StoreKey,
    { after, limit }: { after?: StoreKey | undefined; limit?: number | undefined } = {},
  ): Promise<StoreKey[]> {
    const { from, to } = rangeOf(prefix, after);
    return this.#keys(
      `select key from cem_values where key >= ? and key < ? and ${LIVES} order by key limit ?`,
      [from, to, Date.now(), pageSize(limit)],
    );
  }

  async now(): Promise<number> {
    return Date.now();
  }

  async removeAll(prefix: StoreKey): Promise<void> {
    encodeKey(prefix);
    const { from, to } = rangeOf(prefix);
    this.#change((database) => {
      database.prepare("delete from cem_values where key >= ? and key < ?").run(from, to);
    });
  }

  async close(): Promise<void> {
    this.#close();
  }

  #requireVersion(database: DatabaseSync, key: StoreKey, version: string | undefined): void {
    if (version === undefined) return;
    const found = database
      .prepare(`select version from cem_values where key = ? and ${LIVES}`)
      .get(encodeKey(key), Date.now());
    if (String(found?.["version"] ?? "") !== version) throw storeConflict(key);
  }

  /** Does something of which all or nothing happens, while no other process changes anything. */
  #change<Result>(action: (database: DatabaseSync) => Result): Result {
    return this.#run((database) => {
      database.exec("begin immediate");
      try {
        const result = action(database);
        database.exec("commit");
        return result;
      } catch (error) {
        database.exec("rollback");
        throw error;
      }
    });
  }

  /** The keys that a query finds. */
  #keys(sql: string, given: (Uint8Array | number)[]): StoreKey[] {
    const found = this.#run((database) => database.prepare(sql).all(...given));
    return found.map((row) => decodeKey(row["key"] as Uint8Array));
  }

  #run<Result>(action: (database: DatabaseSync) => Result): Result {
    try {
      return action((this.#database ??= this.#open()));
    } catch (error) {
      if (CemError.isInstance(error)) throw error;
      if (this.#onDamaged === undefined || !(isDamage(error) || isFolder(this.location)))
        throw storeUnavailable(this.location, error);
    }
    this.#beginAnew();
    return this.#run(action);
  }

  /** Moves a damaged file aside, unless another process has done so. */
  #beginAnew(): void {
    this.#close();
    if (!isDamaged(this.location)) return;
    const movedTo = `${this.location}.damaged-${Date.now()}`;
    renameSync(this.location, movedTo);
    // They belong to the damaged file.
    for (const suffix of ["-wal", "-shm"]) rmSync(this.location + suffix, { force: true });
    this.#onDamaged?.(movedTo);
  }

  #close(): void {
    try {
      this.#database?.close();
    } finally {
      this.#database = undefined;
    }
  }

  /** Makes the database beside its place and moves it there, so that no file of that name is ever empty. */
  #create(): void {
    const made = `${this.location}.new-${randomUUID()}`;
    const database = new DatabaseSync(made);
    database.exec(`${SCHEMA} pragma user_version = ${SCHEMA_VERSION}`);
    database.close();
    try {
      linkSync(made, this.location);
    } catch {
      // Another process was quicker, or there are no links here.
      if (statSync(this.location, { throwIfNoEntry: false }) === undefined) renameSync(made, this.location);
    } finally {
      rmSync(made, { force: true });
    }
  }

  #open(): DatabaseSync {
    makeFolder(this.#folder, PRIVATE_FOLDER);
    if (statSync(this.location, { throwIfNoEntry: false }) === undefined) this.#create();
    // SQLite would begin anew, and say nothing.
    else if (isEmpty(this.location)) throw damage("it is empty");
    const database = new DatabaseSync(this.location, { timeout: BUSY_TIMEOUT_MS });
    try {
      chmodSync(this.location, PRIVATE_FILE);
      this.#prepare(database);
    } catch (error) {
      database.close();
      throw error;
    }
    return database;
  }

  #prepare(database: DatabaseSync): void {
    // With a log written ahead, readers and a writer don't wait for each other; synchronized fully, each change is on disk
    // before it is answered.
    database.exec(`pragma journal_mode = wal; pragma synchronous = ${this.#synchronous}; begin immediate`);
    const { user_version: version } = database.prepare("pragma user_version").get() as {
      user_version: number;
    };
    if (version > SCHEMA_VERSION) {
      throw new Error(`it was written by a newer version (${version}, this one knows ${SCHEMA_VERSION})`);
    }
    const copiedTo = this.#copyBrokenLog();
    if (version === 1) database.exec(REMOVED);
    database.prepare(`delete from cem_values where not ${LIVES}`).run(Date.now());
    database.exec(`pragma user_version = ${SCHEMA_VERSION}; commit`);
    if (copiedTo === undefined) return;
    database.exec("pragma wal_checkpoint(truncate)");
    this.#onDamaged?.(copiedTo);
  }

  /** Copies a log of which changes are lost, while no other process writes. SQLite overwrites it. */
  #copyBrokenLog(): string | undefined {
    const log = `${this.location}-wal`;
    if (!existsSync(log) || !losesChanges(readFileSync(log))) return undefined;
    if (this.#onDamaged === undefined) throw new Error("changes in its log can't be read");
    const copiedTo = `${log}.damaged-${Date.now()}`;
    copyFileSync(log, copiedTo);
    return copiedTo;
  }
}

/** SQLite's code of files that are no database. */
const NO_DATABASE = 26;
/** SQLite's codes of files that lack what a statement names, are malformed, or no database. */
const DAMAGE = new Set([1, 11, NO_DATABASE]);

function damage(message: string): Error {
  return Object.assign(new Error(message), { errcode: NO_DATABASE });
}

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
    const { quick_check: found } = database.prepare("pragma quick_check(1)").get() as { quick_check: string };
    return found !== "ok";
  } catch (error) {
    return isDamage(error);
  }
}

function expiryOf(expiresInMs: number | undefined): number | null {
  return expiresInMs === undefined ? null : Date.now() + expiresInMs;
}
