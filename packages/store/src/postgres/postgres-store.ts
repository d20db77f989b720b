import { randomUUID } from "node:crypto";
import { CemError, Lazy } from "@cem/core";
import type { ListOptions, Store, StoredValue, StoreKey, WriteOptions } from "@cem/core";
import { Pool } from "pg";
import type { ClientBase, QueryResult, QueryResultRow } from "pg";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, shownLocation, storeConflict } from "../keys.ts";
import { storeUnavailable } from "../unavailable.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_CONNECTIONS = 10;
const SWEEP_PERIOD_MS = 600_000;
/** Rows that one sweep removes, so that nobody waits for it long. */
const SWEPT_ROWS = 1_000;
/** Of a value that has not expired, by the server's clock. Qualified: an upsert knows two rows. */
const LIVES = "(cem_values.expires_at is null or cem_values.expires_at > now())";
const expiry = (parameter: string): string =>
  `now() + ${parameter}::double precision * interval '1 millisecond'`;

/** Settings of {@link createPostgresStore}. */
export interface PostgresStoreSettings {
  /** `postgresql://` with user, password, host, port and database; `?sslmode=verify-full` for an encrypted connection. */
  url: string;
  /** @defaultValue 10 */
  maxConnections?: number | undefined;
}

/**
 * A store in PostgreSQL 13 or newer: tables that begin with `cem_`, made and brought up to date with the first use.
 * Connects again after a cut.
 */
export function createPostgresStore(settings: PostgresStoreSettings): Store {
  return new PostgresStore(settings);
}

class PostgresStore implements Store {
  readonly specificationVersion = "v1";
  readonly location: string;
  readonly #pool: Pool;
  readonly #ready = new Lazy(() => this.#prepare());
  #sweptAt = -Infinity;

  constructor({ url, maxConnections = DEFAULT_MAX_CONNECTIONS }: PostgresStoreSettings) {
    this.location = shownLocation(url);
    this.#pool = new Pool({
      connectionString: url,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      allowExitOnIdle: true,
    });
    // Of a connection that nobody uses; the next question has a new one.
    this.#pool.on("error", () => {});
  }

  async read(key: StoreKey): Promise<StoredValue | undefined> {
    const { rows } = await this.#ask<{ value: Buffer; version: string }>(
      `select value, version from cem_values where key = $1 and ${LIVES}`,
      [encodeKey(key)],
    );
    return rows[0];
  }

  async write(key: StoreKey, value: Uint8Array, options: WriteOptions = {}): Promise<string> {
    checkSize(key, value);
    await this.#sweep();
    const next = randomUUID();
    const { version, expiresInMs = Infinity } = options;
    const expires = expiresInMs === Infinity ? null : expiresInMs;
    const values = [encodeKey(key), Buffer.from(value), next, expires];
    const set = "value = excluded.value, version = excluded.version, expires_at = excluded.expires_at";
    const insert = `insert into cem_values (key, value, version, expires_at)
      select $1::bytea, $2::bytea, $3::uuid, ${expiry("$4")}
      on conflict (key) do update set ${set}`;
    if (version === undefined) await this.#ask(insert, values);
    else if (version === "") requireOne(key, await this.#ask(`${insert} where not ${LIVES}`, values));
    else if (!isVersion(version)) throw storeConflict(key);
    else
      requireOne(
        key,
        await this.#ask(
          `update cem_values set value = $2, version = $3, expires_at = ${expiry("$4")}
            where key = $1 and version = $5 and ${LIVES}`,
          [...values, version],
        ),
      );
    return next;
  }

  async remove(key: StoreKey, version?: string): Promise<boolean> {
    const bytes = encodeKey(key);
    const where = `where key = $1 and ${LIVES}`;
    if (version === undefined)
      return (await this.#ask(`delete from cem_values ${where}`, [bytes])).rowCount === 1;
    if (!isVersion(version)) throw storeConflict(key);
    requireOne(key, await this.#ask(`delete from cem_values ${where} and version = $2`, [bytes, version]));
    return true;
  }

  async list(prefix: StoreKey, { after, limit }: ListOptions = {}): Promise<StoreKey[]> {
    const { from, to } = rangeOf(prefix, after);
    const { rows } = await this.#ask<{ key: Buffer }>(
      `select key from cem_values where key >= $1 and key < $2 and ${LIVES} order by key limit $3`,
      [from, to, pageSize(limit)],
    );
    return rows.map(({ key }) => decodeKey(key));
  }

  async now(): Promise<number> {
    const { rows } = await this.#ask<{ now: number }>(
      "select floor(extract(epoch from clock_timestamp()) * 1000)::double precision as now",
      [],
    );
    return Number(rows[0]?.now);
  }

  async removeAll(prefix: StoreKey): Promise<void> {
    encodeKey(prefix);
    const { from, to } = rangeOf(prefix);
    await this.#ask("delete from cem_values where key >= $1 and key < $2", [from, to]);
  }

  async close(): Promise<void> {
    if (!this.#pool.ended) await this.#pool.end();
  }

  async #ask<Row extends QueryResultRow>(sql: string, values: readonly unknown[]): Promise<QueryResult<Row>> {
    try {
      await this.#ready.get();
      return await this.#pool.query<Row>(sql, [...values]);
    } catch (error) {
      throw CemError.isInstance(error) ? error : storeUnavailable(this.location, error);
    }
  }

  /** Removes what has expired, now and then. */
  async #sweep(): Promise<void> {
    if (performance.now() - this.#sweptAt < SWEEP_PERIOD_MS) return;
    this.#sweptAt = performance.now();
    const expired = `select key from cem_values where expires_at <= now() limit ${SWEPT_ROWS} for update skip locked`;
    await this.#ask(`delete from cem_values where key in (${expired})`, []);
  }

  async #prepare(): Promise<void> {
    const client = await this.#pool.connect();
    try {
      await migrate(client);
    } finally {
      client.release();
    }
  }
}

function requireOne(key: StoreKey, { rowCount }: { rowCount: number | null }): void {
  if (rowCount !== 1) throw storeConflict(key);
}

/** Other stores' versions may be of another form: no value has one of those. */
function isVersion(version: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(version);
}

/** Each brings the tables one version further; none is ever changed once it was published. */
const MIGRATIONS: readonly string[] = [
  `create table cem_values (
     key bytea primary key,
     value bytea not null,
     version uuid not null,
     expires_at timestamptz
   );
   create index cem_values_expiry on cem_values (expires_at) where expires_at is not null;
   create table cem_log_lengths (key bytea primary key, length bigint not null);
   create table cem_logs (key bytea, number bigint, entry bytea not null, primary key (key, number));
   create table cem_counters (key bytea primary key, amount bigint not null, expires_at timestamptz);`,
  // Index for the removal of expired counters, which finds them without reading the rest.
  "create index cem_counters_expiry on cem_counters (expires_at) where expires_at is not null;",
  // Logs and counters, which nothing has any more.
  "drop table cem_logs, cem_log_lengths, cem_counters;",
];

/** Any number: the same on every host. */
const LOCK = 4_207_601;

/**
 * Brings the tables of the current schema up to date, once however many hosts begin at the same time.
 *
 * @throws Error when they are of a newer version.
 */
async function migrate(client: ClientBase): Promise<void> {
  await client.query("begin");
  try {
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await client.query("create table if not exists cem_migrations (version integer primary key)");
    const { rows } = await client.query<{ version: number | null }>(
      "select max(version) as version from cem_migrations",
    );
    const version = rows[0]?.version ?? 0;
    if (version > MIGRATIONS.length)
      throw new Error(`its tables are of a newer version (${version}, this one knows ${MIGRATIONS.length})`);
    for (const [at, sql] of MIGRATIONS.entries()) {
      if (at < version) continue;
      await client.query(sql);
      await client.query("insert into cem_migrations values ($1)", [at + 1]);
    }
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => undefined);
    throw error;
  }
}
