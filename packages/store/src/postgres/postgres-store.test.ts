import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";
import { Client } from "pg";
import type { QueryResult } from "pg";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../vitest.tools.ts";
import { startPostgres } from "../../test/postgres-server.ts";
import type { PostgresServer } from "../../test/postgres-server.ts";
import { describeStoreContract } from "../testing/contract.ts";
import { createPostgresStore } from "./postgres-store.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

describeWith("postgresql")("a store in PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const query = async (sql: string): Promise<QueryResult> => {
    const client = new Client(server.url);
    await client.connect();
    try {
      return await client.query(sql);
    } finally {
      await client.end();
    }
  };
  const open = () => {
    const store = createPostgresStore({ url: server.url });
    onTestFinished(() => store.close());
    return store;
  };

  describeStoreContract("postgres", async () => ({
    open: () => createPostgresStore({ url: server.url }),
    reset: async () => {
      await query("drop table if exists cem_values, cem_migrations");
    },
  }));

  it("makes its tables once when many hosts begin at the same time", async () => {
    await query("drop table if exists cem_values, cem_migrations");
    await Promise.all(Array.from({ length: 8 }, (_, at) => open().write(["host", String(at)], bytes("x"))));
    expect(await open().list(["host"])).toHaveLength(8);
    expect((await query("select version from cem_migrations")).rows).toEqual([{ version: 3 }]);
  });

  it("removes expired values with its first write", async () => {
    await open().removeAll(["swept"]);
    await open().write(["swept", "gone"], bytes("1"), { expiresInMs: 1 });
    await sleep(20);
    await open().write(["swept", "kept"], bytes("2"));
    const { rows } = await query("select count(*)::int as count from cem_values where value = '1'::bytea");
    expect(rows).toEqual([{ count: 0 }]);
  });

  it("removes soon what is left of a full sweep, and not only with the next period", async () => {
    const store = open();
    await store.removeAll(["swept"]);
    await query(`insert into cem_values select decode(md5(n::text), 'hex'), 'old', gen_random_uuid(), now() - interval '1 day'
      from generate_series(1, 2500) n`);
    const left = async () => {
      await store.write(["swept", "kept"], bytes("2"));
      const { rows } = await query(
        "select count(*)::int as count from cem_values where value = 'old'::bytea",
      );
      return rows[0] as unknown;
    };
    await expect.poll(left, { timeout: 30_000 }).toEqual({ count: 0 });
  });

  it("outlives the loss of its connection while it waits for the tables", async () => {
    const other = new Client(server.url);
    await other.connect();
    onTestFinished(() => other.end());
    await other.query("select pg_advisory_lock(4207601)");
    const store = open();
    const reading = store.read(["a"]).catch((error: unknown) => error);
    const end =
      "select pg_terminate_backend(pid) from pg_stat_activity where wait_event_type = 'Lock' and wait_event = 'advisory'";
    await expect.poll(async () => (await other.query(end)).rowCount, { timeout: 30_000 }).toBe(1);
    expect(await reading).toMatchObject({ code: "STORE_UNAVAILABLE" });
    await other.query("select pg_advisory_unlock(4207601)");
    expect(await store.read(["a"])).toBeUndefined();
  });

  it("leaves tables of a newer version alone", async () => {
    await open().write(["a"], bytes("1"));
    await query("insert into cem_migrations values (99)");
    await expect(open().read(["a"])).rejects.toMatchObject({
      message: expect.stringContaining("newer version (99"),
      details: { problem: "newer" },
    });
    await query("delete from cem_migrations where version = 99");
    expect(await open().read(["a"])).toBeDefined();
  });

  it.each([
    ["nobody", "select 1", "password"],
    [
      "reader",
      "create role reader login; drop table if exists cem_values, cem_migrations; revoke create on schema public from public",
      "rights",
    ],
    ["one", "create role one login connection limit 0", "busy"],
    [
      "replica",
      "create role replica login superuser; alter role replica set default_transaction_read_only = on",
      "readonly",
    ],
  ])("names the reason why the server refuses the user %s", async (user, setUp, problem) => {
    await query(setUp);
    const store = createPostgresStore({ url: server.url.replace("cem@", `${user}@`) });
    onTestFinished(() => store.close());
    await expect(store.write(["a"], bytes("1"))).rejects.toMatchObject({ details: { problem } });
  });

  it("goes on after the server was killed and started again, with all it had answered for", async () => {
    const store = open();
    await store.write(["kept"], bytes("1"));
    await server.kill();
    await expect(store.read(["kept"])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await server.start();
    await expect.poll(() => store.read(["kept"]).catch(() => undefined), { timeout: 30_000 }).toBeDefined();
  });
});

it("says which store can't be reached, without its password", async () => {
  const store = createPostgresStore({ url: "postgresql://ada:secret@127.0.0.1:1/work" });
  const failure = await store.read(["a"]).then(
    () => undefined,
    (error: unknown) => inspect(error, { depth: 9 }),
  );
  expect(failure).toContain("STORE_UNAVAILABLE");
  expect(failure).toContain("postgresql://127.0.0.1:1/work");
  expect(failure).not.toContain("secret");
  await store.close();
});
