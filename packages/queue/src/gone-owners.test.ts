import { CemError } from "@cem/core";
import { parseSealingKeys } from "@cem/store";
import { expect, it, onTestFinished, vi } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import { dumpRedis } from "../../store/test/watch-redis.ts";
import { agentOf } from "../test/agent-of.ts";
import { createRunQueue, startQueueWorker } from "./index.ts";
import type { QueueWorkerSettings } from "./index.ts";
import { describeWith } from "../../../vitest.tools.ts";

/** No identifier happens to have it. */
const OWNER = "ada lovelace";
const SECRET = "canary-of-ada";
const KEYS = parseSealingKeys(`first:${Buffer.alloc(32, 1).toString("base64")}`);
const GONE = new CemError("OWNER_GONE", "The owner was deleted. Nothing was run.");

async function setUp(keys?: typeof KEYS) {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const queue = createRunQueue({ url: redis.url, keys });
  onTestFinished(() => queue.close());
  const work = async (agentFor: QueueWorkerSettings["agentFor"]) => {
    const worker = await startQueueWorker({ url: redis.url, keys, agentFor, concurrency: 1 });
    onTestFinished(() => worker.close());
  };
  const run = (owner: string, input = SECRET, runId?: string) =>
    queue.execute({ kind: "code", input, owner, incarnation: "1" }, { runId, onEvent: () => {} });
  return { queue, work, run, dump: () => dumpRedis(redis.url) };
}

describeWith("redis-server")("runs of an owner who is deleted", () => {
  it("end where they wait, and nothing is kept of them or of those that are over", async () => {
    const { queue, work, run, dump } = await setUp();
    const waiting = [run(OWNER), run(OWNER, `${SECRET} again`), run("bob", "other")];
    for (const one of waiting) one.catch(() => {});
    await expect.poll(async () => (await queue.counts()).waiting, { timeout: 30_000 }).toBe(3);
    expect(await dump()).toContain(SECRET);
    await queue.removeOwner(OWNER);
    for (const one of waiting.slice(0, 2)) await expect(one).rejects.toMatchObject({ code: "OWNER_GONE" });
    expect(await dump()).not.toContain(SECRET);
    await work(async (owner) => {
      if (owner === "eve") throw new CemError("CONFIG_INVALID", `It says ${SECRET}.`);
      return agentOf(async (input) => input);
    });
    expect(await waiting[2]).toMatchObject({ value: "other" });
    // Those that are over: one with its result, one that failed.
    expect(await run(OWNER, SECRET, "key")).toMatchObject({ value: SECRET });
    await expect(run("eve")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    expect(await dump()).toContain(SECRET);
    for (const owner of [OWNER, "eve"]) await queue.removeOwner(owner);
    expect(await dump()).not.toContain(SECRET);
    expect(await dump()).not.toContain(OWNER);
    expect(await queue.counts()).toMatchObject({ waiting: 0, running: 0, dead: 0 });
    expect(await run(OWNER, "new", "key")).toMatchObject({ value: "new" });
  });

  it("are refused by workers with what they were put there for, and removed", async () => {
    const { queue, work, run, dump } = await setUp();
    const asked: unknown[] = [];
    await work(async (owner, incarnation) => {
      asked.push([owner, incarnation]);
      throw GONE;
    });
    await expect(run(OWNER)).rejects.toMatchObject({ code: "OWNER_GONE" });
    expect(asked).toEqual([[OWNER, "1"]]);
    await vi.waitFor(async () => expect(await dump()).not.toContain(SECRET), 30_000);
    expect(await queue.dead()).toEqual([]);
  });

  it("are ended under way, and removed once they have", async () => {
    const { queue, work, run, dump } = await setUp();
    const [started, deleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await work(async () =>
      agentOf(async (input, { onEvent }) => {
        onEvent?.({ type: "output", chunk: { stream: "stdout", text: input } });
        started.resolve();
        await deleted.promise;
        throw GONE;
      }),
    );
    const running = run(OWNER);
    running.catch(() => {});
    await started.promise;
    await vi.waitFor(async () => expect(await dump()).toContain(SECRET), 30_000);
    const removed = queue.removeOwner(OWNER);
    deleted.resolve();
    await removed;
    expect(await running).toMatchObject({ error: { code: "OWNER_GONE" }, code: "" });
    expect(await dump()).not.toContain(SECRET);
  });

  it("are ended under way by an agent that knows no owners, and nothing is kept of them", async () => {
    const { queue, work, run, dump } = await setUp();
    const started = Promise.withResolvers<void>();
    await work(async () =>
      agentOf(async (_, { signal }) => {
        started.resolve();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        throw new CemError("ABORTED", SECRET);
      }),
    );
    const running = run(OWNER);
    await started.promise;
    await queue.removeOwner(OWNER);
    expect(await running).toMatchObject({ error: { code: "OWNER_GONE" }, code: "" });
    expect(await dump()).not.toContain(SECRET);
    expect(await dump()).not.toContain(OWNER);
  });
});

describeWith("redis-server")("a sealed queue", () => {
  it("shows neither why a run failed nor what two runs have in common", async () => {
    const { queue, work, run, dump } = await setUp(KEYS);
    await work(async () => {
      throw new CemError("CONFIG_INVALID", `It says ${SECRET}.`);
    });
    for (const id of [OWNER, "bob"])
      await expect(run(id, SECRET, id)).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect.poll(() => queue.dead(), { timeout: 30_000 }).toHaveLength(2);
    expect((await queue.dead()).map(({ reason }) => reason)).toEqual(Array(2).fill(`It says ${SECRET}.`));
    const stored = await dump();
    expect(stored).toContain(OWNER);
    expect(stored).not.toContain(SECRET);
    const values = [...stored.matchAll(/"(?:payload|reason|digest)[\\":]+([\w+/=]{16,})/gu)].map(
      ([, value]) => value,
    );
    expect(values.length).toBeGreaterThan(3);
    expect(new Set(values).size).toBe(values.length);
    await expect(run(OWNER, "another", OWNER)).rejects.toMatchObject({ code: "QUEUE_KEY_REUSED" });
  });
});
