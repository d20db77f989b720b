import { once } from "node:events";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { awaitRun } from "./awaited-run.ts";
import type { Opened } from "./awaited-run.ts";
import { namesOf } from "./connection.ts";
import { unrunResult } from "./protocol.ts";
import { createSharedRuns } from "./shared-runs.ts";
import { connect } from "./streams.ts";
import { describeWith } from "../../../vitest.tools.ts";

const KEEP_MS = 60_000;

describeWith("redis-server")("streams", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  const open = () => {
    const connection = connect({ url: server.url });
    onTestFinished(connection.disconnect);
    return connection;
  };

  it("give once what was sent again after a cut, though the server had taken it", async () => {
    const { client, streams } = open();
    for (const content of ["a", "b"]) await streams.append("s", [content], KEEP_MS);
    // As the library does with what was not acknowledged.
    for (const [, fields] of await client.xrange("s", "-", "+")) await client.xadd("s", "*", ...fields);
    await open().streams.append("s", ["another's"], KEEP_MS);
    await streams.append("s", ["b"], KEEP_MS);
    const contents = ["a", "b", "another's", "b"];
    expect(await streams.read("s")).toEqual(contents);
    const followed: unknown[] = [];
    const stop = await streams.follow("s", (content) => followed.push(content));
    await expect.poll(() => followed).toEqual(contents);
    stop();
  });

  it("are read where a notice does not follow on what is known, or is too small for what was said", async () => {
    const { client, streams } = open();
    const followed: unknown[] = [];
    const receive = (content: unknown): void => void followed.push(content);
    await streams.follow("n", receive);
    await streams.append("n", ["a", "b"], KEEP_MS);
    // Nobody is told of it.
    await client.xadd("n", "*", "payload", '["lost"]', "by", "other.1");
    await streams.append("n", ["c"], KEEP_MS);
    const large = "x".repeat(100_000);
    await streams.append("n", [large], KEEP_MS);
    await expect.poll(() => followed, { timeout: 4_000 }).toEqual(["a", "b", "lost", "c", large]);
  });

  it("leave nothing that looks for a run on and on whose answer came before the word that it was put", async () => {
    const { client, subscriber, streams } = open();
    // Timers of connections that are being made are no longer there.
    await Promise.all([client.ping(), subscriber.ping()]);
    const run = { kind: "code" as const, input: "x", options: {}, asked: [] };
    const names = namesOf("{cem}", "r");
    let isHeard = false;
    const onEvent = (): void => void (isHeard = true);
    const runs = createSharedRuns(client, "{cem}");
    const opened = { client, streams, runs, closing: new AbortController() } as Opened;
    const result = unrunResult(run, { code: "ABORTED", message: "", details: {} });
    const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
    await streams.subscribe(names.messages);
    const before = timers();
    const put = async (): Promise<boolean> => {
      const event = { type: "waiting", workers: 0 };
      await streams.append(
        names.messages,
        [
          { type: "event", event },
          { type: "result", result },
        ],
        KEEP_MS,
      );
      await expect.poll(() => isHeard).toBe(true);
      return true;
    };
    expect(await awaitRun(opened, { id: "r", names, run, options: { onEvent } }, put)).toEqual(result);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  it("are followed again after a cut, and survive one more at that very moment", async () => {
    const { client, subscriber, streams } = open();
    const followed: unknown[] = [];
    await streams.follow("t", (content) => followed.push(content));
    const cut = async (): Promise<unknown> => client.call("CLIENT", "KILL", "TYPE", "pubsub");
    const again = once(subscriber, "ready");
    await cut();
    await again;
    await expect.poll(async () => client.pubsub("NUMSUB", "t")).toEqual(["t", 1]);
    await streams.append("t", ["heard"], KEEP_MS);
    await expect.poll(() => followed).toEqual(["heard"]);
    const ended = once(subscriber, "end");
    subscriber.once("ready", () => {
      subscriber.disconnect();
      subscriber.stream.destroy();
    });
    await cut();
    await ended;
  });
});
