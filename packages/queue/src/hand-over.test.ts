import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { CemError } from "@cem/core";
import { parseSealingKeys } from "@cem/store";
import { Redis } from "ioredis";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasRedis } from "../../store-redis/test/redis-server.ts";
import { agentOf } from "../test/agent-of.ts";
import type { Work } from "../test/agent-of.ts";
import { realQueue } from "../test/real-queue.ts";
import { spawnWorker } from "../test/spawn-worker.ts";
import type { QueuedOptions, QueueWorker, QueueWorkerSettings, RunQueue } from "./index.ts";

const UNSAFE = { server: "s", tool: "send", isRepeatable: false };
const SAFE = { server: "s", tool: "read", isRepeatable: true };
/** A worker that has a run takes no other from the queue. */
const ONE_AT_ONCE = 1;

describe.skipIf(!hasRedis)("runs of a session", () => {
  const { server, open, work: carryOut } = realQueue();
  /** A worker whose runs say where they were carried out. */
  const work = (
    name: string,
    settings: Partial<QueueWorkerSettings> = {},
    doing: Work = async () => name,
  ): Promise<QueueWorker> => carryOut(doing, { name, ...settings });
  const run = async (queue: RunQueue, input: string, options: QueuedOptions = {}, customer?: string) =>
    queue.execute({ kind: "code", input, customer }, options);

  /** A worker that keeps a run of the session `s` under way: the next of its runs is taken by another. */
  const keepBusy = async (queue: RunQueue, worker: Work): Promise<{ close: () => Promise<void> }> => {
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const busy = await work("warm", { concurrency: ONE_AT_ONCE, drainMs: 200 }, async (input, options) => {
      if (input !== "busy") return worker(input, options);
      started.resolve();
      await Promise.race([finish.promise, once(options.signal ?? new EventTarget(), "abort")]);
      return "busy";
    });
    const result = run(queue, "busy", { session: "s" });
    await started.promise;
    onTestFinished(async () => {
      finish.resolve();
      await result;
    });
    return busy;
  };

  it("are carried out where its guest is warm, whichever worker takes them", async () => {
    const queue = open();
    for (const name of ["a", "b", "c"]) await work(name, { concurrency: ONE_AT_ONCE });
    for (const session of ["one", "two", "three", "four"]) {
      const places = new Set<unknown>();
      for (let at = 0; at < 12; at += 1) places.add((await run(queue, "x", { session }, "ada")).value);
      expect(places.size).toBe(1);
    }
  });

  it("are carried out where they are taken when no guests are kept", async () => {
    const queue = open();
    await keepBusy(queue, async () => "warm");
    await work("other", { keepsGuests: false });
    expect((await run(queue, "x", { session: "s" })).value).toBe("other");
  });

  it("are spread where there are more than their worker takes", async () => {
    const queue = open();
    const begun: string[] = [];
    const finish = Promise.withResolvers<void>();
    onTestFinished(() => finish.resolve());
    const wait =
      (name: string): Work =>
      async () => {
        begun.push(name);
        await finish.promise;
        return name;
      };
    await keepBusy(queue, wait("warm"));
    await work("other", { concurrency: 4 }, wait("other"));
    const results = [1, 2, 3, 4].map(() => run(queue, "x", { session: "s" }));
    await expect.poll(() => begun.toSorted()).toEqual(["other", "other", "other", "warm"]);
    finish.resolve();
    await Promise.all(results);
  });

  it("share nothing with runs of one use, of no session and of another customer's session", async () => {
    const queue = open();
    await keepBusy(queue, async () => "warm");
    await work("other");
    expect((await run(queue, "x", { session: "s" })).value).toBe("warm");
    expect((await run(queue, "x", { session: "s", singleUse: true })).value).toBe("other");
    expect((await run(queue, "x", { session: "s" }, "bob")).value).toBe("other");
    expect((await run(queue, "x")).value).toBe("other");
  });

  it("ask, tell and are cancelled as others are", async () => {
    const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
    const queue = open({ keys });
    const held = Promise.withResolvers<void>();
    const waiting = Promise.withResolvers<void>();
    await work("warm", { concurrency: ONE_AT_ONCE, keys }, async (input, { onEvent, onApprove, signal }) => {
      if (input === "hold") {
        held.resolve();
        await once(signal ?? new EventTarget(), "abort");
      }
      if (input === "wait") {
        waiting.resolve();
        await once(signal ?? new EventTarget(), "abort");
        throw new CemError("ABORTED", "cancelled where it was warm");
      }
      onEvent?.({ type: "output", chunk: { stream: "stdout", text: "told" } });
      return onApprove?.({
        server: "s",
        tool: "t",
        args: {},
        reason: "",
        signal: new AbortController().signal,
      });
    });
    const end = new AbortController();
    const holding = run(queue, "hold", { session: "s", signal: end.signal });
    await held.promise;
    await work("other", { keys });
    const events: string[] = [];
    const asked = await run(queue, "ask", {
      session: "s",
      onEvent: ({ type }) => events.push(type),
      onApprove: async () => "once",
    });
    expect(asked.value).toBe("once");
    expect(events).toEqual(["output"]);
    const cancelled = new AbortController();
    const result = run(queue, "wait", { session: "s", signal: cancelled.signal });
    await waiting.promise;
    cancelled.abort();
    expect((await result).error).toMatchObject({ message: "cancelled where it was warm" });
    end.abort();
    await holding;
  });

  it("say why they can't be carried out there, and wait for a person then", async () => {
    const queue = open();
    await keepBusy(queue, async () => 1);
    // The agent of the warm worker is there; this one's customer has none.
    let isBroken = false;
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await work("broken", {
      concurrency: ONE_AT_ONCE,
      agentFor: async () => {
        if (isBroken) throw new CemError("CONFIG_INVALID", "config.yaml:3: no such setting");
        return agentOf(async () => {
          started.resolve();
          await finish.promise;
        });
      },
    });
    const first = run(queue, "x", { session: "t" }, "ada");
    await started.promise;
    isBroken = true;
    await work("other");
    await expect(run(queue, "y", { session: "t" }, "ada")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
    await expect.poll(() => queue.dead()).toMatchObject([{ reason: "config.yaml:3: no such setting" }]);
    finish.resolve();
    await first;
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
    const begun: string[] = [];
    const warm = await keepBusy(queue, async (_, { onCall, signal }) => {
      await onCall?.(call);
      begun.push(input);
      await once(signal ?? new EventTarget(), "abort");
      throw new CemError("ABORTED", "stopped");
    });
    await work("other", {}, async () => `${input} again`);
    const result = run(queue, input, { session: "s" });
    await expect.poll(() => begun).toEqual([input]);
    await warm.close();
    expect(await result).toMatchObject(end);
  });

  it("go back to the queue when the worker stops that took them", async () => {
    const queue = open();
    const begun = Promise.withResolvers<void>();
    await keepBusy(queue, async (_, { signal }) => {
      begun.resolve();
      await once(signal ?? new EventTarget(), "abort");
      throw new CemError("ABORTED", "stopped");
    });
    const other = await work("other", { drainMs: 100 });
    const result = run(queue, "x", { session: "s" });
    await begun.promise;
    await other.close();
    // Its second attempt is begun by whoever takes it.
    await work("third");
    expect((await result).value).toBe("third");
  });

  it("are done once, or interrupted with their calls, when the machine is lost that they are warm on", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "warm-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = path.join(folder, "calls.log");
    writeFileSync(log, "");
    const spawned = async () => {
      const machine = await spawnWorker({ url: server().url, log, lostAfterMs: 1_000 });
      onTestFinished(() => void machine.kill("SIGKILL"));
      return machine;
    };
    const queue = open();
    const call = (id: string, tool: "look" | "send", ms: number) =>
      run(queue, JSON.stringify({ id, tool, ms }), { session: "s" });
    const warm = await spawned();
    await call("first", "look", 0);
    await spawned();
    const runs = [1, 2, 3, 4].flatMap((at) => [
      { tool: "look", result: call(`look${at}`, "look", 3_000) },
      { tool: "send", result: call(`send${at}`, "send", 20_000) },
    ]);
    const lines = (): string[] => readFileSync(log, "utf8").trim().split("\n");
    await expect.poll(() => lines().length).toBe(1 + runs.length);
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
    const sends = lines().filter((line) => line.startsWith("send "));
    expect(new Set(sends).size).toBe(sends.length);
  });

  it("are carried out where they were taken while the warm worker is stuck", async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), "warm-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const log = path.join(folder, "calls.log");
    const stuck = await spawnWorker({ url: server().url, log, lostAfterMs: 60_000 });
    onTestFinished(() => void stuck.kill("SIGKILL"));
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
    expect(readFileSync(log, "utf8").trim().split("\n")).toContain("send first");
    expect(readFileSync(log, "utf8")).not.toMatch(/send [123]/u);
  });
});
