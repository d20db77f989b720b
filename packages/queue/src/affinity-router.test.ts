import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { CemError } from "@cem/core";
import type { ExecuteOptions } from "@cem/core";
import { parseSealingKeys } from "@cem/store";
import { Redis } from "ioredis";
import { expect, it, onTestFinished } from "vitest";
import { describeWith } from "../../../vitest.tools.ts";
import { agentOf } from "../test/agent-of.ts";
import type { Work } from "../test/agent-of.ts";
import { realQueue } from "../test/real-queue.ts";
import { realWorkers } from "../test/real-workers.ts";
import type { QueueWorker, QueueWorkerSettings, RunQueue } from "./index.ts";

const UNSAFE = { server: "s", tool: "send", isRepeatable: false };
const SAFE = { server: "s", tool: "read", isRepeatable: true };
/** So many runs are begun until one was routed: workers take turns at the queue. */
const TRIES = 40;

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

  /** Begins runs of the session `s` until one was routed, each once the one before has begun. */
  const beginHanded = async <Result>(
    begin: (at: number) => Promise<Result>,
    begun: () => number,
  ): Promise<Promise<Result>[]> => {
    const client = new Redis(server().url);
    onTestFinished(() => client.disconnect());
    const results: Promise<Result>[] = [];
    while (results.length < TRIES && (await client.keys("*:inbox")).length === 0) {
      results.push(begin(results.length));
      await expect.poll(begun).toBe(results.length);
    }
    expect(await client.keys("*:inbox")).not.toEqual([]);
    return results;
  };

  /** Until its signal aborts. */
  const forever: Work = async (_, { signal }) => {
    await once(signal ?? new EventTarget(), "abort");
    throw new CemError("ABORTED", "ended where it was warm");
  };

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

  it("are executed where they are taken when no guests are kept, for one use, and for others", async () => {
    const queue = open();
    await work("warm", { concurrency: 1 });
    expect((await run(queue, "x", { session: "s" }, "ada")).value).toBe("warm");
    await work("other", { keepsGuests: false, concurrency: 1 });
    const placesOf = async (options: ExecuteOptions, owner: string): Promise<Set<unknown>> => {
      const places = new Set<unknown>();
      for (let at = 0; at < TRIES && places.size < 2; at += 1)
        places.add((await run(queue, "x", options, owner)).value);
      return places;
    };
    const both = new Set(["warm", "other"]);
    expect(await placesOf({ session: "s" }, "ada")).toEqual(both);
    expect(await placesOf({ session: "s", singleUse: true }, "ada")).toEqual(both);
    expect(await placesOf({}, "ada")).toEqual(both);
  });

  it("are another's where an owner has a session of the same name", async () => {
    const queue = open();
    const warm = await work("warm");
    expect((await run(queue, "x", { session: "s" }, "ada")).value).toBe("warm");
    await work("other");
    // Of two owners' sessions of one name, one comes to the other worker sooner or later.
    const places = new Set<unknown>();
    for (let at = 0; at < TRIES; at += 1)
      places.add((await run(queue, "x", { session: "s" }, `owner${at}`)).value);
    expect(places.size).toBe(2);
    await warm.close();
  });

  it("ask, tell and are cancelled as others are, sealed", async () => {
    const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
    const queue = open({ keys });
    let begun = 0;
    await work("warm", { concurrency: TRIES + 1, keys }, async (input, options) => {
      if (input === "first") return "warm";
      options.onEvent?.({ type: "output", chunk: { stream: "stdout", text: "told" } });
      const signal = new AbortController().signal;
      const answer = await options.onApprove?.({ server: "s", tool: "t", args: {}, reason: "", signal });
      begun += 1;
      if (answer === "once") await forever(input, options);
    });
    await run(queue, "first", { session: "s" });
    await work("other", { keys });
    const events: string[] = [];
    const cancelled = new AbortController();
    const results = await beginHanded(
      () =>
        run(queue, "x", {
          session: "s",
          signal: cancelled.signal,
          onEvent: ({ type }) => events.push(type),
          onApprove: async () => "once",
        }),
      () => begun,
    );
    expect(events).toEqual(results.map(() => "output"));
    cancelled.abort();
    for (const { error } of await Promise.all(results))
      expect(error).toMatchObject({ code: "ABORTED", message: "ended where it was warm" });
  });

  it("say why they can't be executed there, and wait for a person then", async () => {
    const queue = open();
    const broken = { isBroken: false };
    await work("broken", {
      agentFor: async () => {
        if (broken.isBroken) throw new CemError("CONFIG_INVALID", "config.yaml:3: no such setting");
        return agentOf(async () => "warm");
      },
    });
    expect((await run(queue, "x", { session: "s" })).value).toBe("warm");
    broken.isBroken = true;
    await work("other");
    const failed: unknown[] = [];
    const results = await beginHanded(
      () => run(queue, "y", { session: "s" }).catch((error: unknown) => failed.push(error)),
      () => failed.length,
    );
    for (const error of failed) expect(error).toMatchObject({ code: "CONFIG_INVALID" });
    await expect.poll(() => queue.dead()).toHaveLength(results.length);
    expect((await queue.dead())[0]?.reason).toBe("config.yaml:3: no such setting");
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

  it.each([
    { input: "read", call: SAFE, end: { error: null, value: "read again" } },
    {
      input: "send",
      call: UNSAFE,
      end: { error: { code: "RUN_INTERRUPTED", details: { calls: ["s.send"] } } },
    },
  ])("end as any when the warm worker stops: after $input", async ({ input, call, end }) => {
    const queue = open();
    let begun = 0;
    const warm = await work("warm", { concurrency: TRIES, drainMs: 200 }, async (given, options) => {
      if (given === "first") return "warm";
      await options.onCall?.(call);
      begun += 1;
      return forever(given, options);
    });
    await run(queue, "first", { session: "s" });
    await work("other", {}, async () => `${input} again`);
    const results = await beginHanded(
      () => run(queue, input, { session: "s" }),
      () => begun,
    );
    await warm.close();
    for (const result of results) expect(await result).toMatchObject(end);
  });

  it("go back to the queue when the worker stops that took them", async () => {
    const queue = open();
    let [begun, isOver] = [0, false];
    await work("warm", { concurrency: TRIES }, async (given, options) => {
      if (given === "first" || isOver) return "warm";
      begun += 1;
      return forever(given, options);
    });
    await run(queue, "first", { session: "s" });
    const other = await work("other", { drainMs: 100 });
    const cancel = new AbortController();
    const results = await beginHanded(
      (at) => run(queue, `${at}`, { session: "s", signal: cancel.signal }),
      () => begun,
    );
    isOver = true;
    await other.close();
    // Its second attempt is begun by whoever takes it.
    expect(await results.at(-1)).toMatchObject({ value: "warm" });
    cancel.abort();
    await Promise.all(results);
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

  it("are executed where they were taken while the warm worker is stuck", async () => {
    const workers = realWorkers(server().url, 60_000);
    const stuck = await workers.work();
    const queue = open();
    const input = (id: string): string => JSON.stringify({ id, tool: "send", ms: 0 });
    await run(queue, input("first"), { session: "s" });
    stuck.kill("SIGSTOP");
    await work("other", { concurrency: 8 });
    const results = await Promise.all([1, 2, 3].map((at) => run(queue, input(String(at)), { session: "s" })));
    expect(results.map(({ value }) => value)).toEqual(["other", "other", "other"]);
    stuck.kill("SIGCONT");
    // It hears of them, and does nothing.
    const client = new Redis(server().url);
    onTestFinished(() => client.disconnect());
    const unread = async (): Promise<number> => {
      const inboxes = await client.keys("*:inbox");
      const lengths = await Promise.all(inboxes.map((inbox) => client.xlen(inbox)));
      return lengths.reduce((sum, length) => sum + length, 0);
    };
    await expect.poll(unread).toBe(0);
    expect(workers.calls()).toContain("send first");
    expect(workers.calls().join("\n")).not.toMatch(/send [123]/u);
  });
});
