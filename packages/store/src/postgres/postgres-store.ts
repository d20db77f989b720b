import { randomUUID } from "node:crypto";
import { CemError, Lazy } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { Pool } from "pg";
import type { QueryResultRow } from "pg";
import { checkSize, decodeKey, encodeKey, pageSize, rangeOf, shownLocation, storeConflict } from "../keys.ts";
import { storeUnavailable } from "../unavailable.ts";

const CONNECT_TIMEOUT_MS = 5_000;
const QUERY_TIMEOUT_MS = 30_000;
const MAX_CONNECTIONS = 10;
const SWEEP_PERIOD_MS = 600_000;
/** Maximum number of rows that one sweep removes, so that nobody waits long for it. After a full one, the next follows soon. */
const SWEPT_ROWS = 1_000;
const NEXT_SWEEP_MS = 1_000;
/** Condition for values that have not expired, by the server's clock. Qualified, since an upsert sees two rows. */
const LIVES = "(cem_values.expires_at is null or cem_values.expires_at > now())";
const expiry = (parameter: string): string =>
  `now() + ${parameter}::double precision * interval '1 millisecond'`;

/** Settings of {@link createPostgresStore}. */
export interface PostgresStoreSettings {
  /** `postgresql://` with user, password, host, port and database; `?sslmode=verify-full` for an encrypted connection. */
  url: string;
}

/**
 * Creates a store in PostgreSQL 13 or newer: tables with the prefix `cem_`, created on first use. Reconnects when the
 * connection is lost.
 */
export function createPostgresStore({ url }: PostgresStoreSettings): Store {
  const location = shownLocation(url);
  const pool = new Pool({
    connectionString: url,
    max: MAX_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    allowExitOnIdle: true,
  });
  // The error of an idle connection; the next query uses a new one.
  pool.on("error", () => {});
  const ready = new Lazy(() => makeTables(pool));
  let sweepAt = -Infinity;

  const ask = async <Row extends QueryResultRow>(sql: string, values: unknown[] = []) => {
    try {
      await ready.get();
      return await pool.query<Row>(sql, values);
    } catch (error) {
      throw CemError.isInstance(error) ? error : storeUnavailable(location, error);
    }
  };

  const sweep = async (): Promise<void> => {
    if (performance.now() < sweepAt) return;
    sweepAt = performance.now() + SWEEP_PERIOD_MS;
    const expired = `select key from cem_values where expires_at <= now() limit ${SWEPT_ROWS} for update skip locked`;
    const { rowCount } = await ask(`delete from cem_values where key in (${expired})`);
    if (rowCount === SWEPT_ROWS) sweepAt = performance.now() + NEXT_SWEEP_MS;
  };

  return {
    specificationVersion: "v1",
    location,
    async read(key) {
      const { rows } = await ask<{ value: Buffer; version: string }>(
        `select value, version from cem_values where key = $1 and ${LIVES}`,
        [encodeKey(key)],
      );
      return rows[0];
    },
    async write(key, value, { version, expiresInMs = Infinity } = {}) {
      checkSize(key, value);
      await sweep();
      const next = randomUUID();
      const expires = expiresInMs === Infinity ? null : expiresInMs;
      const values = [encodeKey(key), Buffer.from(value), next, expires];
      const set = "value = excluded.value, version = excluded.version, expires_at = excluded.expires_at";
      const insert = `insert into cem_values (key, value, version, expires_at)
        select $1::bytea, $2::bytea, $3::uuid, ${expiry("$4")}
        on conflict (key) do update set ${set}`;
      if (version === undefined) await ask(insert, values);
      else if (version === "") requireOne(key, await ask(`${insert} where not ${LIVES}`, values));
      else if (!isVersion(version)) throw storeConflict(key);
      else {
        const update = `update cem_values set value = $2, version = $3, expires_at = ${expiry("$4")}
          where key = $1 and version = $5 and ${LIVES}`;
        requireOne(key, await ask(update, [...values, version]));
      }
      return next;
    },
    async remove(key, version) {
      const bytes = encodeKey(key);
      const where = `where key = $1 and ${LIVES}`;
      if (version === undefined)
        return (await ask(`delete from cem_values ${where}`, [bytes])).rowCount === 1;
      if (!isVersion(version)) throw storeConflict(key);
      requireOne(key, await ask(`delete from cem_values ${where} and version = $2`, [bytes, version]));
      return true;
    },
    async list(prefix, { after, limit } = {}) {
      const { from, to } = rangeOf(prefix, after);
      const { rows } = await ask<{ key: Buffer }>(
        `select key from cem_values where key >= $1 and key < $2 and ${LIVES} order by key limit $3`,
        [from, to, pageSize(limit)],
      );
      return rows.map(({ key }) => decodeKey(key));
    },
    async now() {
      const { rows } = await ask<{ now: number }>(
        "select floor(extract(epoch from clock_timestamp()) * 1000)::double precision as now",
      );
      return Number(rows[0]?.now);
    },
    async removeAll(prefix) {
      encodeKey(prefix);
      const { from, to } = rangeOf(prefix);
      await ask("delete from cem_values where key >= $1 and key < $2", [from, to]);
    },
    async close() {
      if (!pool.ended) await pool.end();
    },
  };
}

function requireOne(key: StoreKey, { rowCount }: { rowCount: number | null }): void {
  if (rowCount !== 1) throw storeConflict(key);
}

/** Whether a version has the form of this store's. No value has a version of another form. */
function isVersion(version: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(version);
}

/** Incremented with each change of the tables. A program does not touch tables of a newer version. */
const SCHEMA_VERSION = 3;
const SCHEMA = `create table cem_values (
    key bytea primary key,
    value bytea not null,
    version uuid not null,
    expires_at timestamptz
  );
  create index cem_values_expiry on cem_values (expires_at) where expires_at is not null;`;

/** An arbitrary number, the same on every host. */
const LOCK = 4_207_601;

/** Creates the tables in the current schema, once even if many hosts start at the same time. @throws Error for a newer version. */
async function makeTables(pool: Pool): Promise<void> {
  const client = await pool.connect();
  // The pool listens to its idle connections only: unheard, the loss of this one would end the process.
  const ignore = (): void => {};
  client.on("error", ignore);
  try {
    await client.query("begin");
    await client.query("select pg_advisory_xact_lock($1)", [LOCK]);
    await client.query("create table if not exists cem_migrations (version integer primary key)");
    const { rows } = await client.query<{ version: number | null }>(
      "select max(version) as version from cem_migrations",
    );
    const version = rows[0]?.version ?? 0;
    if (version > SCHEMA_VERSION)
      throw new Error(`its tables are of a newer version (${version}, this one knows ${SCHEMA_VERSION})`);
    if (version === 0) {
      await client.query(SCHEMA);
      await client.query("insert into cem_migrations values ($1)", [SCHEMA_VERSION]);
    }
    await client.query("commit");
  } catch (error) {
    // Closed, which rolls back.
    client.release(true);
    throw error;
  }
  client.off("error", ignore);
  client.release();
}
