import { setTimeout as sleep } from "node:timers/promises";
import type { ExecuteOptions } from "@cem/core";
import { expect, it } from "vitest";
import { describeWith } from "../../../vitest.tools.ts";
import type { Work } from "../test/agent-of.ts";
import { realQueue } from "../test/real-queue.ts";
import { realWorkers } from "../test/real-workers.ts";
import type { QueueWorker, QueueWorkerSettings, RunQueue } from "./index.ts";

describeWith("redis-server")("runs of a session", () => {
  const { server, open, work: execute } = realQueue();
  /** A worker whose runs say where they were executed. */
  const work = (
    name: string,
    settings: Partial<QueueWorkerSettings> = {},
    doing: Work = async () => name,
  ): Promise<QueueWorker> => execute(doing, { name, ...settings });
  const run = async (queue: RunQueue, input: string, options: ExecuteOptions = {}, owner?: string) =>
    queue.execute({ kind: "code", input, owner }, options);

  it("are executed where its guest is warm, whichever worker takes them", async () => {
    const queue = open();
    for (const name of ["a", "b", "c"]) await work(name, { concurrency: 1 });
    for (const session of ["one", "two", "three", "four"]) {
      const places = new Set<unknown>();
      for (let at = 0; at < 12; at += 1) places.add((await run(queue, "x", { session }, "ada")).value);
      expect(places.size).toBe(1);
    }
  });

  it("are no more at once on a worker than it has slots, with those that it takes itself", async () => {
    const queue = open();
    const most: Record<string, number> = {};
    for (const name of ["a", "b", "c"]) {
      let atOnce = 0;
      await work(name, { concurrency: 2 }, async () => {
        atOnce += 1;
        most[name] = Math.max(most[name] ?? 0, atOnce);
        await sleep(20);
        atOnce -= 1;
        return "done";
      });
    }
    const sessions = Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? undefined : `s${at % 2}`));
    const results = await Promise.all(sessions.map((session) => run(queue, "x", { session })));
    expect(new Set(results.map(({ value }) => value))).toEqual(new Set(["done"]));
    expect(Math.max(...Object.values(most))).toBe(2);
  });

  it("are executed anywhere when no guests are kept, and for one use", async () => {
    const queue = open();
    for (const name of ["a", "b"]) await work(name, { keepsGuests: false });
    const placesOf = async (options: ExecuteOptions, owner: string): Promise<Set<unknown>> => {
      const results = [1, 2, 3, 4].map(() => run(queue, "x", options, owner));
      return new Set((await Promise.all(results)).map(({ value }) => value));
    };
    const both = new Set(["a", "b"]);
    expect(await placesOf({ session: "s" }, "ada")).toEqual(both);
    expect(await placesOf({ session: "s", singleUse: true }, "ada")).toEqual(both);
    expect(await placesOf({}, "ada")).toEqual(both);
  });

  it("go to another worker while that of their guest has no slot, and come back", async () => {
    const queue = open();
    const finish = Promise.withResolvers<void>();
    const doing =
      (name: string): Work =>
      async (input) => {
        if (input === "long") await finish.promise;
        return name;
      };
    await work("warm", { concurrency: 1 }, doing("warm"));
    const long = run(queue, "long", { session: "s" });
    await expect.poll(async () => (await queue.counts()).running).toBe(1);
    await work("other", { concurrency: 1 }, doing("other"));
    expect((await run(queue, "x", { session: "s" })).value).toBe("other");
    finish.resolve();
    expect((await long).value).toBe("warm");
    expect((await run(queue, "x", { session: "s" })).value).toBe("warm");
  });

  it("are taken by the worker that has their guest before others that wait, but those are not passed over for ever", async () => {
    const queue = open();
    const ends: Record<string, PromiseWithResolvers<void>> = {};
    const begun: string[] = [];
    for (const name of ["a", "b"]) {
      await work(name, { concurrency: 1 }, async (input) => {
        begun.push(`${input} ${name}`);
        if (input.startsWith("long")) await (ends[name] = Promise.withResolvers<void>()).promise;
        return name;
      });
    }
    const long = ["one", "two"].map((session) => run(queue, `long ${session}`, { session }));
    await expect.poll(() => begun.length).toBe(2);
    const [one, two] = ["one", "two"].map((session) =>
      String(begun.find((it) => it.includes(session))?.at(-1)),
    );
    const first = run(queue, "first", { session: "one" });
    await expect.poll(async () => (await queue.counts()).waiting).toBe(1);
    const others = Array.from({ length: 20 }, (_, at) => run(queue, String(at), { session: "two" }));
    await expect.poll(async () => (await queue.counts()).waiting).toBe(21);
    ends[two ?? ""]?.resolve();
    expect((await first).value).toBe(two);
    expect(begun.slice(2, 19)).toEqual([
      ...others.slice(0, 16).map((_, at) => `${at} ${two}`),
      `first ${two}`,
    ]);
    ends[one ?? ""]?.resolve();
    await Promise.all([...long, ...others]);
  });

  it("are another's where an owner has a session of the same name", async () => {
    const queue = open();
    await work("warm");
    expect((await run(queue, "x", { session: "s" }, "ada")).value).toBe("warm");
    await work("other");
    const places = new Set<unknown>();
    for (const owner of ["bob", "eve", "joe"])
      places.add((await run(queue, "x", { session: "s" }, owner)).value);
    expect(places.size).toBe(2);
  });

  it("go elsewhere once their worker is closed, and stay there", async () => {
    const queue = open();
    const warm = await work("warm");
    expect((await run(queue, "x", { session: "s" })).value).toBe("warm");
    await warm.close();
    await work("a");
    await work("b");
    const places = new Set<unknown>();
    for (let at = 0; at < 20; at += 1) places.add((await run(queue, "x", { session: "s" })).value);
    expect(places.size).toBe(1);
  });

  it("are done once, or interrupted with their calls, when the machine is lost that they are warm on", async () => {
    const workers = realWorkers(server().url, 1_000);
    const queue = open();
    const call = (id: string, tool: "look" | "send", ms: number) =>
      run(queue, JSON.stringify({ id, tool, ms }), { session: "s" });
    const warm = await workers.work();
    await call("first", "look", 0);
    await workers.work();
    const runs = [1, 2, 3, 4].flatMap((at) => [
      { tool: "look", result: call(`look${at}`, "look", 3_000) },
      { tool: "send", result: call(`send${at}`, "send", 20_000) },
    ]);
    await expect.poll(() => workers.calls().length).toBe(1 + runs.length);
    warm.kill("SIGKILL");
    const ended = await Promise.all(runs.map(async ({ tool, result }) => ({ tool, ...(await result) })));
    for (const { tool, status, error } of ended) {
      if (status === "success") continue;
      expect({ tool, ...error }).toMatchObject({
        tool: "send",
        code: "RUN_INTERRUPTED",
        details: { calls: ["jobs.send"] },
      });
    }
    expect(ended.some(({ status }) => status === "error")).toBe(true);
    const sends = workers.calls().filter((line) => line.startsWith("send "));
    expect(new Set(sends).size).toBe(sends.length);
  });

  it("go to another worker once that of their guest is stuck, which does nothing more of them", async () => {
    const workers = realWorkers(server().url, 2_000);
    const stuck = await workers.work();
    const queue = open();
    const input = (id: string): string => JSON.stringify({ id, tool: "send", ms: 0 });
    await run(queue, input("first"), { session: "s" });
    stuck.kill("SIGSTOP");
    await work("other", { concurrency: 8, lostAfterMs: 2_000 });
    const results = await Promise.all([1, 2, 3].map((at) => run(queue, input(String(at)), { session: "s" })));
    expect(results.map(({ value }) => value)).toEqual(["other", "other", "other"]);
    stuck.kill("SIGCONT");
    await expect.poll(async () => (await queue.counts()).workers).toBe(2);
    expect(workers.calls()).toEqual(["send first"]);
  });
});
