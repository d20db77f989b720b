import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ForwardedAnswer } from "@cem/core";
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { dumpRedis } from "../../store/test/watch-redis.ts";
import { createReplicas } from "./index.ts";
import { WINDOW_BYTES } from "./streamed-answer.ts";
import { describeWith } from "../../../vitest.tools.ts";

const POLL = { timeout: 30_000 };
const REQUEST = { method: "GET", url: "http://server/mcp", headers: [], client: {} };
const CHUNK = new Uint8Array(50_000).fill(97);
const CHUNKS = 200;

describeWith("redis-server")("a large answer that another copy of the server gives", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Two copies, one of which answers with chunks. */
  async function setUp(
    chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array> = Array<Uint8Array>(CHUNKS).fill(CHUNK),
    { url } = redis,
  ) {
    const [front, back] = [createReplicas({ url }), createReplicas({ url })];
    onTestFinished(async () => void (await Promise.all([front.close(), back.close()])));
    let given = 0;
    const over = Promise.withResolvers<string>();
    async function* body() {
      let how = "left";
      try {
        for await (const chunk of chunks) {
          given += chunk.byteLength;
          yield chunk;
        }
        how = "ended";
      } finally {
        over.resolve(how);
      }
    }
    await front.receive(() => Promise.reject(new Error("unused")));
    await back.receive(async (): Promise<ForwardedAnswer> => ({ status: 200, headers: [], body: body() }));
    const leaving = new AbortController();
    const answer = await vi.waitFor(async () => {
      const found = await front.send(back.name, REQUEST, leaving.signal);
      if (found === undefined) throw new Error("The other copy is not there yet.");
      return found;
    }, POLL);
    const stream = answer.body as ReadableStream<Uint8Array>;
    return { front, leaving, reader: stream.getReader(), given: () => given, over: over.promise };
  }

  /** Resolves once no more is given: the sender waits for its reader. */
  async function stands(given: () => number): Promise<number> {
    await expect.poll(given, POLL).toBeGreaterThanOrEqual(WINDOW_BYTES);
    let before = -1;
    await vi.waitFor(
      () => {
        const now = given();
        const isStill = now === before;
        before = now;
        if (!isStill) throw new Error("More was given.");
      },
      { timeout: 30_000, interval: 300 },
    );
    return before;
  }

  it("share a key, which is sealed and made anew where it can't be opened", async () => {
    const keysOf = (id: string, byte: number) => [{ id, key: new Uint8Array(32).fill(byte) }];
    const open = (keys?: ReturnType<typeof keysOf>) => {
      const replica = createReplicas({ url: redis.url, keys });
      onTestFinished(() => replica.close());
      return replica;
    };
    const first = await open(keysOf("a", 1)).sharedKey();
    expect(first).toHaveLength(32);
    expect(await open(keysOf("a", 1)).sharedKey()).toEqual(first);
    const second = await open(keysOf("b", 2)).sharedKey();
    expect(second).not.toEqual(first);
    expect(await open(keysOf("b", 2)).sharedKey()).toEqual(second);
  });

  it("does not keep a copy that leaves while Redis hangs", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    const replica = createReplicas({ url: own.url });
    await replica.receive(() => Promise.reject(new Error("unused")));
    own.hang();
    await expect(replica.close()).resolves.toBeUndefined();
  });

  it("waits where it comes from while nobody reads it, then comes whole and in order", async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251));
    const { reader, given, over } = await setUp(Array<Uint8Array>(100).fill(bytes));
    expect(await stands(given)).toBeLessThanOrEqual(WINDOW_BYTES + 2 * bytes.byteLength);
    // Bytes on their way are with the reader, not in Redis, and bounded in both.
    expect((await dumpRedis(redis.url)).length).toBeLessThan(2 * WINDOW_BYTES);
    const read: Uint8Array[] = [];
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      read.push(value);
    }
    expect(await over).toBe("ended");
    expect(Buffer.concat(read).equals(Buffer.concat(Array<Buffer>(100).fill(bytes)))).toBe(true);
  });

  it("comes whole where Redis is away while it is sent, and back later", async () => {
    const own = await startRedis();
    onTestFinished(() => own.stop());
    const away = Promise.withResolvers<void>();
    async function* chunks() {
      yield CHUNK;
      await away.promise;
      for (let at = 1; at < CHUNKS; at += 1) yield CHUNK;
    }
    const { reader, over } = await setUp(chunks(), own);
    let bytes = (await reader.read()).value?.byteLength ?? 0;
    await own.kill();
    away.resolve();
    // More than one try fails.
    await sleep(1_000);
    await own.start();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      bytes += value.byteLength;
    }
    expect([await over, bytes]).toEqual(["ended", CHUNKS * CHUNK.byteLength]);
  }, 60_000);

  it("is cut where one chunk is larger than what may be on its way", async () => {
    const huge = new Uint8Array(5 * WINDOW_BYTES).fill(98);
    const { reader } = await setUp([huge]);
    let bytes = 0;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      expect(value.byteLength).toBeLessThan(WINDOW_BYTES);
      bytes += value.byteLength;
    }
    expect(bytes).toBe(huge.byteLength);
  });

  it("ends where it comes from when its reader leaves, cancels, or is lost with its copy", async () => {
    const [leaves, cancels, lost] = await Promise.all([setUp(), setUp(), setUp()]);
    for (const { given } of [leaves, cancels, lost]) await stands(given);
    const aborted = once(leaves.leaving.signal, "abort");
    leaves.leaving.abort();
    await aborted;
    await cancels.reader.cancel();
    await lost.front.close();
    expect(await Promise.all([leaves.over, cancels.over, lost.over])).toEqual(["left", "left", "left"]);
    await expect(leaves.reader.read()).rejects.toThrow("the client is gone");
    for (const { given } of [leaves, cancels, lost]) expect(given()).toBeLessThan(CHUNKS * CHUNK.byteLength);
  }, 60_000);
});
