import { Redis } from "ioredis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { servedTurn, Turns } from "./turns.ts";
import { describeWith } from "../../../vitest.tools.ts";

describeWith("redis-server")("turns that have grown", () => {
  let server: RedisServer;
  let client: Redis;
  beforeAll(async () => {
    server = await startRedis();
    client = new Redis(server.url);
  });
  afterAll(async () => {
    client.disconnect();
    await server.stop();
  });

  const take = async (turns: Turns, owner: string): Promise<number> =>
    (await turns.take(owner, 100)).priority ?? -1;

  /** An owner whose runs have been served until turns may begin anew. */
  async function grown(prefix: string): Promise<Turns> {
    const turns = new Turns(client, prefix, 20);
    let turn = 0;
    while (turn <= 20) {
      turn = await take(turns, "busy");
      await client.set(servedTurn(prefix), turn - 1);
    }
    return turns;
  }

  it("begin anew once nothing waits", async () => {
    const turns = await grown("{empty}");
    expect(await take(turns, "busy")).toBe(1);
    expect(await take(turns, "busy")).toBe(2);
    expect(await take(turns, "other")).toBe(1);
  });

  it("go on while a run waits, which would be overtaken", async () => {
    const turns = await grown("{waits}");
    await client.zadd("{waits}:runs:prioritized", 1, "run");
    expect(await take(turns, "other")).toBe(21);
    await client.del("{waits}:runs:prioritized");
    expect(await take(turns, "other")).toBe(1);
  });
});
