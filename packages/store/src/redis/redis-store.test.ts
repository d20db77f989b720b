import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../../vitest.tools.ts";
import { startRedis } from "../../test/redis-server.ts";
import type { RedisServer } from "../../test/redis-server.ts";
import { parseSealingKeys, sealStore } from "../index.ts";
import { describeStoreContract } from "../testing/contract.ts";
import { createRedisStore } from "./redis-store.ts";

const bytes = (text: string): Uint8Array => Buffer.from(text);

describeWith("redis-server")("a store in Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const reset = async (): Promise<void> => {
    const client = new Redis(server.url);
    await client.flushall();
    client.disconnect();
  };
  const open = (prefix?: string) => {
    const store = createRedisStore({ url: server.url, prefix });
    onTestFinished(() => store.close());
    return store;
  };

  describeStoreContract("redis", async () => ({
    open: () => createRedisStore({ url: server.url }),
    reset,
  }));

  describeStoreContract("redis, sealed", async () => {
    const keys = parseSealingKeys(`a:${Buffer.alloc(32, 1).toString("base64")}`);
    return { open: () => sealStore(createRedisStore({ url: server.url }), keys), reset };
  });

  it("forgets the keys of values that expired where nobody lists them", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    const store = open("swept:");
    const count = 2_500;
    const keys = Array.from({ length: count }, (_, at) => ["vaults", String(at)]);
    await Promise.all(keys.map((key) => store.write(key, bytes("1"), { expiresInMs: 1 })));
    await store.write(["vaults", "kept"], bytes("1"));
    expect(await client.zcard("swept:list:values")).toBeGreaterThan(count / 2);
    const later = open("swept:");
    const left = async () => {
      await later.write(["a"], bytes("2"));
      return client.zcard("swept:list:values");
    };
    await expect.poll(left, { timeout: 30_000 }).toBe(2);
  });

  it("writes also where it can't forget what has expired", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await client.call("ACL", "SETUSER", "writer", "on", ">word", "~*", "+@all", "-zrangebylex");
    const url = new URL(server.url);
    Object.assign(url, { username: "writer", password: "word" });
    const store = createRedisStore({ url: url.href, prefix: "unswept:" });
    onTestFinished(() => store.close());
    await store.write(["a"], bytes("1"));
    expect(await store.read(["a"])).toMatchObject({ value: bytes("1") });
  });

  it("keeps two prefixes apart", async () => {
    const [one, two] = [open("one:"), open("two:")];
    await one.write(["a"], bytes("1"));
    expect(await two.list([])).toEqual([]);
    await two.removeAll(["a"]);
    expect(await one.list([])).toEqual([["a"]]);
  });

  it("goes on after the server was killed and started again, with all it had answered for", async () => {
    const store = open("kill:");
    await store.write(["a"], bytes("1"));
    await server.kill();
    await expect(store.read(["a"])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    await server.start();
    await expect.poll(() => store.read(["a"]).catch(() => undefined), { timeout: 30_000 }).toBeDefined();
  });

  it("refuses more than the server's memory holds, and says that a server may drop what it has", async () => {
    const store = open("full:");
    const client = new Redis(server.url);
    onTestFinished(async () => {
      await client.config("SET", "maxmemory", "0");
      await client.config("SET", "maxmemory-policy", "noeviction");
      client.disconnect();
    });
    await store.write(["a"], bytes("1"));
    expect(await store.risks?.()).toEqual([]);
    await client.config("SET", "maxmemory", "1");
    await expect(store.write(["a"], bytes("2"))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      details: { problem: "full" },
    });
    expect(Buffer.from((await store.read(["a"]))?.value ?? []).toString()).toBe("1");
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    for (const [user, denied, risk] of [
      ["known", ["+info"], "maxmemory-policy allkeys-lru"],
      ["managed", ["-config"], "maxmemory-policy allkeys-lru"],
      ["without-info", ["-info"], "maxmemory-policy allkeys-lru"],
      ["silent", ["-info", "-config"], "does not say what it drops"],
    ] as const) {
      await client.acl("SETUSER", user, "on", ">secret", "~*", "&*", "+@all", ...denied);
      const asked = createRedisStore({ url: server.url.replace("//", `//${user}:secret@`) });
      onTestFinished(() => asked.close());
      expect(await asked.risks?.()).toMatchObject([expect.stringContaining(risk)]);
    }
  });

  it("says that the password is missing or wrong", async () => {
    const client = new Redis(server.url);
    await client.config("SET", "requirepass", "right");
    onTestFinished(async () => {
      await client.config("SET", "requirepass", "");
      client.disconnect();
    });
    for (const user of ["", ":wrong@"]) {
      const store = createRedisStore({ url: server.url.replace("redis://", `redis://${user}`) });
      onTestFinished(() => store.close());
      await expect(store.read(["a"])).rejects.toMatchObject({ details: { problem: "password" } });
    }
  });

  it.each(["99", "staging"])("does not go on in another database where %s is none", async (database) => {
    const store = createRedisStore({ url: server.url.replace(/0$/u, database), prefix: "other:" });
    onTestFinished(() => store.close());
    const refusal = { code: "STORE_UNAVAILABLE", details: { problem: "database" } };
    await expect(store.write(["a"], bytes("1"))).rejects.toMatchObject(refusal);
    await expect(store.read(["a"])).rejects.toMatchObject(refusal);
    expect(await open("other:").list([])).toEqual([]);
  });

  it("stays closed", async () => {
    const store = open("closed:");
    await store.write(["a"], bytes("1"));
    await store.close();
    await expect(store.read(["a"])).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });

  it("keeps two databases apart", async () => {
    const store = createRedisStore({ url: server.url.replace(/0$/u, "1"), prefix: "other:" });
    onTestFinished(() => store.close());
    await store.write(["a"], bytes("1"));
    expect(await store.list([])).toEqual([["a"]]);
    expect(await open("other:").list([])).toEqual([]);
  });

  it("says that the server only reads", async () => {
    const client = new Redis(server.url);
    await client.replicaof("127.0.0.1", "1");
    onTestFinished(async () => {
      await client.replicaof("NO", "ONE");
      client.disconnect();
    });
    await expect(open("replica:").write(["a"], bytes("1"))).rejects.toMatchObject({
      details: { problem: "readonly" },
    });
  });

  it("leaves nothing of values that expired in its list", async () => {
    const store = open("expire:");
    await store.write(["a"], bytes("1"), { expiresInMs: 1 });
    await expect.poll(() => store.list([])).toEqual([]);
    const client = new Redis(server.url);
    expect(await client.zcard("expire:list:values")).toBe(0);
    client.disconnect();
  });
});

it("says which store can't be reached, without its password", async () => {
  const store = createRedisStore({ url: "redis://ada:secret@127.0.0.1:1/3" });
  const failure = await store.read(["a"]).then(
    () => undefined,
    (error: unknown) => inspect(error, { depth: 9 }),
  );
  expect(failure).toContain("STORE_UNAVAILABLE");
  expect(failure).toContain("redis://127.0.0.1:1/3");
  expect(failure).not.toContain("secret");
  await store.close();
});
