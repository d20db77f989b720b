import type { ClientBase } from "pg";

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
export async function migrate(client: ClientBase): Promise<void> {
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
