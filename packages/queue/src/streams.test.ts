import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { hasRedis, startRedis } from "../../store-redis/test/redis-server.ts";
import type { RedisServer } from "../../store-redis/test/redis-server.ts";
import { createLetters } from "./letters.ts";
import { Streams } from "./streams.ts";

describe.skipIf(!hasRedis)("streams", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = () => {
    const [client, subscriber] = [new Redis(server.url), new Redis(server.url)];
    onTestFinished(() => {
      client.disconnect();
      subscriber.disconnect();
    });
    return { client, streams: new Streams(client, subscriber, createLetters()) };
  };

  it("give once what was sent again after a cut, though the server had taken it", async () => {
    const { client, streams } = open();
    for (const content of ["a", "b"]) await streams.tell("s", { content });
    // As the library does with what was not acknowledged.
    for (const [, fields] of await client.xrange("s", "-", "+")) await client.xadd("s", "*", ...fields);
    await open().streams.tell("s", { content: "another's" });
    await streams.tell("s", { content: "b" });
    const contents = ["a", "b", "another's", "b"];
    expect(await streams.read("s")).toEqual(contents);
    const followed: unknown[] = [];
    const stop = await streams.follow(
      "s",
      (content) => followed.push(content),
      () => {},
    );
    await expect.poll(() => followed).toEqual(contents);
    stop();
  });
});
