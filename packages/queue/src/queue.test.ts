import { setTimeout as sleep } from "node:timers/promises";
import { abandonOnAbort, CemError } from "@cem/core";
import type { Agent, AgentEvent } from "@cem/core";
import { parseSealingKeys } from "@cem/store";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRunQueue, startQueueWorker } from "./index.ts";
import type { QueueWorkerSettings } from "./index.ts";
import { createSharedRuns } from "./shared-runs.ts";
import { agentOf } from "../test/agent-of.ts";
import type { Work } from "../test/agent-of.ts";
import { realQueue } from "../test/real-queue.ts";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { describeWith } from "../../../vitest.tools.ts";

const SAFE = { server: "s", tool: "read", isRepeatable: true };
const UNSAFE = { server: "s", tool: "send", isRepeatable: false };

describeWith("redis-server")("a queue of runs", () => {
  const { server, open, work } = realQueue();
  const code = (input: string, owner?: string) => ({ kind: "code" as const, input, owner });

  it("has runs executed, with their options, events and results", async () => {
    const events: AgentEvent[] = [];
    await work(async (input, { onEvent, session, allowedTools }) => {
      for (const text of ["a", "b"]) onEvent?.({ type: "output", chunk: { stream: "stdout", text } });
      return { input, session, allowedTools };
    });
    const result = await open().execute(code("x"), {
      session: "s1",
      allowedTools: ["a.*"],
      onEvent: (event) => events.push(event),
    });
    expect(result).toMatchObject({
      status: "success",
      value: { input: "x", session: "s1", allowedTools: ["a.*"] },
    });
    expect(events.map((event) => (event.type === "output" ? event.chunk.text : event.type))).toEqual([
      "a",
      "b",
      "finished",
    ]);
    expect(events.at(-1)).toEqual({ type: "finished", result });
  });

  it.each<[how: string, fail: () => void]>([
    [
      "throws",
      () => {
        throw new Error("no");
      },
    ],
    ["rejects", () => Promise.reject(new Error("no")) as never],
  ])("goes on where a listener of its events %s", async (_, onEvent) => {
    const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    onTestFinished(() => warned.mockRestore());
    await work(async (_input, options) => options.onEvent?.({ type: "stage-started", stage: "run" }));
    expect(await open().execute(code("x"), { onEvent })).toMatchObject({ status: "success" });
    expect(warned.mock.calls).toContainEqual(["onEvent threw at stage-started: no", "CemWarning"]);
  });

  it("refuses a question whose answer is no JSON", async () => {
    await work(async (_, { onApprove, signal = new AbortController().signal }) =>
      onApprove?.({ server: "s", tool: "t", args: {}, reason: "it may delete", signal }),
    );
    const { error } = await open().execute(code("x"), { onApprove: async () => 10n as never });
    expect(error?.message).toContain("BigInt");
  });

  it("leaves the runs that are awaited to others where the queue is closed", async () => {
    const started = Promise.withResolvers<void>();
    const finish = Promise.withResolvers<void>();
    await work(async () => {
      started.resolve();
      await finish.promise;
      return "done";
    });
    const queue = open();
    const left = queue.execute(code("x"), { runId: "k" });
    await started.promise;
    await queue.close();
    expect((await left).error).toMatchObject({ code: "ABORTED", details: { isLeft: true } });
    finish.resolve();
    expect((await open().execute(code("x"), { runId: "k" })).value).toBe("done");
  });

  it("ends the runs of an agent that is disposed, which then runs nothing more", async () => {
    const started = Promise.withResolvers<void>();
    await work(async (_, { signal }) => {
      started.resolve();
      await new Promise((resolve) => signal?.addEventListener("abort", resolve));
      throw new CemError("ABORTED", "cancelled by its worker");
    });
    const agent = open().agent(agentOf(async () => "local"));
    const running = agent.executeCode("x");
    await started.promise;
    await agent.dispose();
    expect((await running).error?.message).toBe("cancelled by its worker");
    await expect(agent.executeCode("x")).rejects.toMatchObject({ code: "AGENT_DISPOSED" });
    await agent.dispose();
  });

  it("has a worker send a run's events only where a host may hear them", async () => {
    const isHeard: boolean[] = [];
    await work(async (_, { onEvent }) => isHeard.push(onEvent !== undefined));
    const queue = open();
    for (const options of [{}, { onEvent: () => {} }, { runId: "known" }, { rejoin: { key: "found" } }])
      await queue.execute(code("x"), options);
    expect(isHeard).toEqual([false, true, true, true]);
  });

  it("carries questions to the host and answers back, and says when nobody can be asked", async () => {
    await work(async (input, { onElicit, onApprove, signal = new AbortController().signal }) => {
      const approved = await onApprove?.({
        server: "s",
        tool: "t",
        args: { input },
        reason: "it may delete",
        signal,
      });
      const elicited = await onElicit?.({
        server: "s",
        message: "who?",
        mode: "form",
        requestedSchema: {},
        signal,
      });
      return { approved: approved ?? "nobody", elicited: elicited ?? "nobody" };
    });
    const queue = open();
    const asked: unknown[] = [];
    const answered = await queue.execute(code("x"), {
      onApprove: async ({ args }) => (asked.push(args), "once"),
      onElicit: async ({ message }) => (asked.push(message), { action: "accept", content: { name: "Ada" } }),
    });
    expect(answered.value).toEqual({
      approved: "once",
      elicited: { action: "accept", content: { name: "Ada" } },
    });
    expect(asked).toEqual([{ input: "x" }, "who?"]);
    expect((await queue.execute(code("x"))).value).toEqual({ approved: "nobody", elicited: "nobody" });
    const refused = await queue.execute(code("x"), {
      onApprove: () => Promise.reject(new Error("the client left")),
    });
    expect(refused.error?.message).toContain("the client left");
  });

  it("reports a run that no worker takes, with how many there are", async () => {
    const queue = open();
    const events: AgentEvent[] = [];
    const running = queue.execute(code("x"), { onEvent: (event) => events.push(event) });
    await expect.poll(() => events).toEqual([{ type: "waiting", workers: 0 }]);
    await work(async () => "done");
    expect((await running).value).toBe("done");
    events.length = 0;
    await queue.execute(code("x"), { onEvent: (event) => events.push(event) });
    expect(events.map(({ type }) => type)).toEqual(["finished"]);
  });

  it("cancels runs that wait and runs under way", async () => {
    const queue = open();
    const cancelled = new AbortController();
    const waiting = queue.execute(code("x"), { signal: cancelled.signal });
    await expect.poll(async () => (await queue.counts()).waiting).toBe(1);
    cancelled.abort();
    expect((await waiting).error?.code).toBe("ABORTED");
    expect((await queue.counts()).waiting).toBe(0);
    const started = Promise.withResolvers<void>();
    await work(async (_, { signal }) => {
      started.resolve();
      await sleep(60_000, undefined, { signal }).catch(() => {
        throw new CemError("ABORTED", "cancelled by its worker");
      });
    });
    const controller = new AbortController();
    const running = queue.execute(code("x"), { signal: controller.signal });
    await started.promise;
    controller.abort();
    expect((await running).error).toMatchObject({ code: "ABORTED", message: "cancelled by its worker" });
  });

  it("ends a run whose cancel the server refused at first, and does not say before that it is told", async () => {
    const [started, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await work(async (_, { signal }) => {
      started.resolve();
      await sleep(60_000, undefined, { signal }).catch(() => ended.resolve());
    });
    const controller = new AbortController();
    const running = open().execute(code("x"), { signal: controller.signal });
    await started.promise;
    const admin = new Redis(server().url);
    onTestFinished(() => admin.disconnect());
    await admin.config("SET", "min-replicas-to-write", "1");
    controller.abort(new CemError("SERVER_CLOSING", "The server closes."));
    const { error } = await running;
    await admin.config("SET", "min-replicas-to-write", "0");
    expect(error?.message).toContain("could not be told yet");
    await ended.promise;
  });

  it("makes requests with one key one run, also from another host and after its end", async () => {
    let runs = 0;
    await work(async () => (runs += 1));
    const [one, two] = [open(), open()];
    const results = await Promise.all(
      [one, two, one, two].map((queue) => queue.execute(code("x", "ada"), { runId: "k" })),
    );
    expect(results.map(({ value }) => value)).toEqual([1, 1, 1, 1]);
    expect((await open().execute(code("x", "ada"), { runId: "k" })).value).toBe(1);
    const named = [one, two].map((queue) => queue.execute(code("x", "eve"), { runId: "r" }));
    expect((await Promise.all(named)).map(({ value }) => value)).toEqual([2, 2]);
    expect((await open().execute(code("x", "bob"), { runId: "k" })).value).toBe(3);
    await expect(one.execute(code("y", "ada"), { runId: "k" })).rejects.toMatchObject({
      code: "QUEUE_KEY_REUSED",
    });
  });

  it("serves owners in turn, however many runs one has put in", async () => {
    const queue = open();
    const order: string[] = [];
    const runs = Array.from({ length: 8 }, (_, at) => queue.execute(code(`ada ${at}`, "ada")));
    await expect.poll(async () => (await queue.counts()).waiting).toBe(8);
    for (const at of [0, 1]) runs.push(queue.execute(code(`bob ${at}`, "bob")));
    await expect.poll(async () => (await queue.counts()).waiting).toBe(10);
    await work(async (input) => order.push(input), { concurrency: 1 });
    await Promise.all(runs);
    expect(order.indexOf("bob 0")).toBeLessThan(3);
    expect(order.indexOf("bob 1")).toBeLessThan(6);
    expect(order.filter((one) => one.startsWith("ada"))).toEqual(
      Array.from({ length: 8 }, (_, at) => `ada ${at}`),
    );
  });

  it("leaves slots free of an owner who has the most, and gives all of them to clients without owners", async () => {
    const ends: (() => void)[] = [];
    const began: string[] = [];
    await work((input) => new Promise<void>((resolve) => void [began.push(input), ends.push(resolve)]));
    const queue = open();
    // As a worker of an earlier version leaves it.
    const client = new Redis(server().url);
    await client.sadd("{cem}:owner:ada:active", "run-1", "run-2", "run-3", "run-4", "run-5");
    client.disconnect();
    const runs = [1, 2, 3, 4, 5, 6].map(() => queue.execute(code("ada", "ada")));
    await expect.poll(async () => await queue.counts()).toMatchObject({ running: 3, waiting: 3 });
    runs.push(queue.execute(code("bob", "bob")));
    await expect.poll(() => began).toEqual(["ada", "ada", "ada", "bob"]);
    expect(await queue.counts()).toMatchObject({ running: 4, waiting: 3 });
    while (began.length < 7 || ends.length > 0) {
      ends.splice(0, 1)[0]?.();
      await sleep(5);
    }
    await Promise.all(runs);
    const others = [1, 2, 3, 4].map(() => queue.execute(code("no owner"), { owner: "eve" }));
    await expect.poll(() => ends.length).toBe(4);
    for (const end of ends) end();
    await Promise.all(others);
  });

  it("keeps of an owner's results the newest, and says of an older one that it is not kept", async () => {
    let runs = 0;
    await work(async () => (runs += 1));
    const queue = open();
    for (const runId of ["k", "l"]) await queue.execute(code("x", "ada"), { runId });
    await queue.execute(code("x", "bob"), { runId: "k" });
    const client = new Redis(server().url);
    const kept = "{cem}:owner:ada:kept";
    const [oldest = ""] = await client.zrange(kept, 0, "0");
    await client.zadd(kept, Date.now() - 20_000, oldest);
    await client.incrby(`${kept}:bytes`, 64 * 1024 * 1024);
    await queue.execute(code("x", "ada"), { runId: "m" });
    expect(await client.zcard(kept)).toBe(2);
    client.disconnect();
    const again = (runId: string, owner: string) => open().execute(code("x", owner), { runId });
    expect((await again("k", "ada")).error).toMatchObject({
      code: "RUN_INTERRUPTED",
      message: expect.stringContaining("its result is no longer kept"),
    });
    expect([(await again("l", "ada")).value, (await again("k", "bob")).value]).toEqual([2, 3]);
    expect(runs).toBe(4);
  });

  it("tells of a tool's progress what is newest, and not more of it than a line", async () => {
    const events: AgentEvent[] = [];
    await work(async (_, { onEvent }) => {
      for (let progress = 0; progress < 1_000; progress += 1)
        onEvent?.({
          type: "tool-progressed",
          server: "s",
          tool: "t",
          progress: { progress, message: "x".repeat(50_000) },
        });
    });
    await open().execute(code("x"), { onEvent: (event) => void events.push(event) });
    expect(events.length).toBeLessThan(10);
    expect(events.at(-2)).toMatchObject({ progress: { progress: 999, message: "x".repeat(1_000) } });
  });

  it("serves clients in turn where there are no owners", async () => {
    const queue = open();
    const order: unknown[] = [];
    const runs: Promise<unknown>[] = [];
    for (const at of [0, 1, 2, 3]) runs.push(queue.execute(code(`ada ${at}`), { owner: "ada" }));
    await expect.poll(async () => (await queue.counts()).waiting).toBe(4);
    runs.push(queue.execute(code("bob 0"), { owner: "bob" }));
    await expect.poll(async () => (await queue.counts()).waiting).toBe(5);
    await work(async (input) => order.push(input), { concurrency: 1 });
    await Promise.all(runs);
    expect(order.indexOf("bob 0")).toBeLessThan(3);
  });

  it("refuses more than may wait, with the time to wait", async () => {
    const queue = open({ maxWaiting: 2 });
    const runs = [queue.execute(code("1")), queue.execute(code("2"))];
    await expect.poll(async () => (await queue.counts()).waiting).toBe(2);
    await expect(queue.execute(code("3"))).rejects.toMatchObject({
      code: "QUEUE_FULL",
      details: { waiting: 2, limit: 2, retryAfterMs: expect.any(Number) as number },
    });
    await work(async (input) => input);
    expect((await Promise.all(runs)).map(({ value }) => value)).toEqual(["1", "2"]);
  });

  it("refuses an owner who leaves no room for the others", async () => {
    const queue = open({ maxWaiting: 10 });
    const done: Promise<unknown>[] = [];
    const put = async (owner: string, waiting: number): Promise<void> => {
      done.push(queue.execute(code(owner, owner)));
      await expect.poll(async () => (await queue.counts()).waiting).toBe(waiting);
    };
    for (const waiting of [1, 2, 3, 4, 5]) await put("ada", waiting);
    const refused = await queue.execute(code("6", "ada")).catch((error: unknown) => error as CemError);
    expect(refused).toMatchObject({ code: "QUEUE_FULL", details: { waiting: 5, limit: 5 } });
    expect((refused as CemError).message).toMatch(/^5 of your runs wait for a worker/u);
    for (const waiting of [6, 7]) await put("bob", waiting);
    await put("eve", 8);
    await expect(queue.execute(code("3", "bob"))).rejects.toMatchObject({
      details: { waiting: 2, limit: 2 },
    });
    await work(async (input) => input);
    await Promise.all(done);
    expect((await queue.execute(code("7", "ada"))).value).toBe("7");
  });

  describe("when its server was set back", () => {
    const QUICK = { lostAfterMs: 600 };

    /** Executes a run whose tool is called after the server's state was noted, and returns what sets it back. */
    const runOnce = async (options: { runId?: string }, onProblem: (error: Error) => void) => {
      let [attempts, sent] = [0, 0];
      const [started, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const doing: Work = async (_, { onCall }) => {
        attempts += 1;
        started.resolve();
        await go.promise;
        await onCall?.(UNSAFE);
        sent += 1;
        return "sent";
      };
      const worker = await work(doing, { ...QUICK, onProblem });
      const host = open();
      const result = host.execute(code("x"), options);
      await started.promise;
      const setBack = await noteState(server().url);
      go.resolve();
      expect((await result).value).toBe("sent");
      return { doing, worker, host, setBack, counts: () => [attempts, sent] };
    };

    it("does not run again what the same worker had executed, and says so", async () => {
      const problems: string[] = [];
      const once = await runOnce({ runId: "k" }, ({ message }) => problems.push(message));
      await once.host.close();
      await once.setBack();
      await expect.poll(() => problems.join()).toMatch(/set back .* is not run again/u);
      expect(once.counts()).toEqual([1, 1]);
      expect((await open().execute(code("x"), { runId: "k" })).error).toMatchObject({
        code: "RUN_INTERRUPTED",
        details: { calls: ["s.send"] },
      });
    });

    it("does not run again elsewhere what a host has seen end, and warns of it", async () => {
      const once = await runOnce({}, () => {});
      await once.worker.close();
      const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
      onTestFinished(() => warned.mockRestore());
      await once.setBack();
      await work(once.doing, QUICK);
      await expect
        .poll(() => warned.mock.calls.map(([warning]) => String(warning)).join())
        .toContain("Runs that had ended are not run again: 1.");
      expect(await open().execute(code("y"))).toMatchObject({ value: "sent" });
      expect(once.counts()).toEqual([2, 2]);
      expect(await open().counts()).toMatchObject({ running: 0, waiting: 0 });
    });
  });

  describe("when a worker is lost", () => {
    const QUICK = { lostAfterMs: 600 };

    /** Work that never ends at its first attempt. Its worker is cut off, as if it had been lost. */
    const lose = async (announced: readonly (typeof SAFE)[]) => {
      const started = Promise.withResolvers<void>();
      const late: unknown[] = [];
      let attempts = 0;
      const doing: Work = async (_, { onCall, signal }) => {
        attempts += 1;
        if (attempts > 1) return "repeated";
        for (const call of announced) await onCall?.(call);
        started.resolve();
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        // A worker that was only stuck would do this next.
        await onCall?.(UNSAFE).catch((error: unknown) => late.push(error));
        return "late";
      };
      const worker = await startQueueWorker({
        url: server().url,
        agentFor: async () => agentOf(doing),
        ...QUICK,
        name: "lost",
      });
      onTestFinished(() => worker.close());
      return { started, late, attempts: () => attempts, worker, doing };
    };

    it.each([
      ["that called nothing", []],
      ["that called what can be repeated", [SAFE, SAFE]],
    ])("repeats a run %s, and the lost one does nothing more", async (_, announced) => {
      const lost = await lose(announced);
      const result = open().execute(code("x"));
      await lost.started.promise;
      await silence(server().url, () => work(lost.doing, QUICK));
      expect((await result).value).toBe("repeated");
      await expect.poll(() => lost.late.length).toBe(1);
      expect(lost.late[0]).toMatchObject({ code: "RUN_INTERRUPTED" });
      expect(lost.attempts()).toBe(2);
      await lost.worker.close();
    });

    it("repeats its run though the server's clock was set back by an hour since its last sign of life", async () => {
      const client = new Redis(server().url);
      onTestFinished(() => client.disconnect());
      const lost = { slots: 1, keepsGuests: true, ...QUICK };
      await createSharedRuns(client, "{cem}").sign("lost", lost, []);
      const queue = open();
      const result = queue.execute(code("x"));
      await expect.poll(async () => (await queue.counts()).running).toBe(1);
      await client.zadd("{cem}:workers:signs", Date.now() + 3_600_000, "lost");
      await work(async () => "repeated", QUICK);
      expect((await result).value).toBe("repeated");
    });

    it("ends a run that may have changed something as interrupted, with its calls", async () => {
      const lost = await lose([SAFE, UNSAFE]);
      const result = open().execute(code("x"));
      await lost.started.promise;
      await silence(server().url, () => work(lost.doing, QUICK));
      expect((await result).error).toMatchObject({
        code: "RUN_INTERRUPTED",
        details: { calls: ["s.read", "s.send"] },
      });
      expect(lost.attempts()).toBe(1);
      // It learns of it with the next thing that it tells.
      await lost.worker.close();
    });

    it("gives a run that loses three workers to no other, and says so", async () => {
      let attempts = 0;
      const doing: Work = async (_, { signal }) => {
        attempts += 1;
        await new Promise((resolve) => signal?.addEventListener("abort", resolve));
        return "late";
      };
      await work(doing, QUICK);
      const result = open().execute(code("x"));
      for (const attempt of [1, 2, 3]) {
        await expect.poll(() => attempts).toBe(attempt);
        await silence(server().url, () => work(doing, QUICK));
      }
      const message =
        "3 workers were lost while they executed the run. No tool was called. It is not repeated";
      expect((await result).error).toMatchObject({
        code: "RUN_INTERRUPTED",
        message: expect.stringContaining(message) as string,
      });
      expect(attempts).toBe(3);
    });
  });

  it("keeps what can't be executed, until somebody tries again", async () => {
    const queue = open();
    const broken = await work(async () => 1, {
      agentFor: () => Promise.reject(new CemError("CONFIG_INVALID", "config.yaml:3: no such setting")),
    });
    await expect(queue.execute(code("x", "ada"), { runId: "k" })).rejects.toMatchObject({
      code: "CONFIG_INVALID",
    });
    await expect.poll(() => queue.dead()).toHaveLength(1);
    const [dead] = await queue.dead();
    expect(dead).toMatchObject({ owner: "ada", kind: "code", reason: "config.yaml:3: no such setting" });
    await broken.close();
    await work(async () => 1);
    expect(await queue.retry(dead?.id ?? "")).toBe(true);
    expect(await queue.retry("none")).toBe(false);
    await expect.poll(() => queue.counts()).toMatchObject({ waiting: 0, running: 0, dead: 0 });
  });

  it("finishes what is under way before a worker closes", async () => {
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const worker = await work(async () => {
      started.resolve();
      await finish.promise;
      return "finished";
    });
    const queue = open();
    const first = queue.execute(code("1"));
    await started.promise;
    const closed = worker.close();
    finish.resolve();
    expect((await first).value).toBe("finished");
    await closed;
    const controller = new AbortController();
    const second = queue.execute(code("2"), { signal: controller.signal });
    await expect.poll(async () => (await queue.counts()).waiting).toBe(1);
    controller.abort();
    await second;
  });

  it("goes on after its server was killed and started again", async () => {
    const client = new Redis(server().url);
    // Else the last second may not be on disk, and a run that the server forgot ends as interrupted.
    await client.config("SET", "appendfsync", "always");
    client.disconnect();
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await work(async () => {
      started.resolve();
      await finish.promise;
      return "finished";
    });
    const queue = open();
    const result = queue.execute(code("1"));
    await started.promise;
    await server().kill();
    await expect(open().execute(code("2"))).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    finish.resolve();
    await server().start();
    expect(await result).toMatchObject({ error: null, value: "finished" });
  });

  it("tells how it keeps up: workers, the oldest wait, and the runs that ended", async () => {
    const queue = open();
    const results = [queue.execute(code("1")), queue.execute(code("2", "ada"))];
    await expect.poll(async () => (await queue.load()).oldestWaitMs).toBeGreaterThan(50);
    expect(await queue.load()).toMatchObject({ waiting: 2, workers: 0, endedPerMinute: 0 });
    await work(async (input) => input);
    await Promise.all(results);
    await expect
      .poll(() => queue.load())
      .toMatchObject({ waiting: 0, dead: 0, workers: 1, oldestWaitMs: 0, endedPerMinute: 2 });
  });

  it("lets another host go on with a run whose host is gone, and asks nothing twice", async () => {
    const finish = Promise.withResolvers<void>();
    await work(async (_, { onEvent, onElicit, signal = new AbortController().signal }) => {
      const ask = (message: string) =>
        onElicit?.({ server: "s", message, mode: "form", requestedSchema: {}, signal });
      onEvent?.({ type: "output", chunk: { stream: "stdout", text: "begun" } });
      const first = await ask("first");
      const second = await ask("second");
      await finish.promise;
      return [first, second];
    });
    const answer = (name: string) => ({ action: "accept" as const, content: { name } });
    const leaving = new AbortController();
    const asked: string[] = [];
    const left = open().execute(code("x", "ada"), {
      rejoin: { key: "k", leave: leaving.signal },
      onElicit: async ({ message }) => {
        asked.push(message);
        if (message === "first") return answer("one");
        leaving.abort();
        return new Promise(() => {});
      },
    });
    expect((await left).error).toMatchObject({ code: "ABORTED", details: { isLeft: true } });
    const other = open();
    const output: string[] = [];
    const rejoined = other.rejoin("k", "ada", {
      onEvent: (event) => event.type === "output" && output.push(event.chunk.text),
      onElicit: async ({ message }) => (asked.push(message), answer("two")),
    });
    finish.resolve();
    expect((await rejoined)?.value).toEqual([answer("one"), answer("two")]);
    expect(asked).toEqual(["first", "second", "second"]);
    expect(output).toEqual(["begun"]);
    // Its result is kept.
    expect((await open().rejoin("k", "ada"))?.status).toBe("success");
    expect(await other.rejoin("k", "bob")).toBeUndefined();
    expect(await other.rejoin("k")).toBeUndefined();
    expect(await other.rejoin("j", "ada")).toBeUndefined();
  });

  it("cancels a run that another host has begun", async () => {
    const started = Promise.withResolvers<void>();
    await work(async (_, { signal }) => {
      started.resolve();
      await sleep(60_000, undefined, { signal }).catch(() => {
        throw new CemError("ABORTED", "cancelled by its worker");
      });
    });
    const first = open().execute(code("x"), { rejoin: { key: "k" } });
    await started.promise;
    const cancelled = await open().rejoin("k", undefined, { signal: AbortSignal.abort() });
    expect(cancelled?.error?.message).toBe("cancelled by its worker");
    expect((await first).error?.message).toBe("cancelled by its worker");
  });

  it("refuses a machine whose keys open nothing of what the others send, and takes new ones in turn", async () => {
    const keyOf = (name: string, byte: number): string =>
      `${name}:${Buffer.alloc(32, byte).toString("base64")}`;
    const [first, both, other] = [
      parseSealingKeys(keyOf("one", 1)),
      parseSealingKeys(`${keyOf("two", 2)},${keyOf("one", 1)}`),
      parseSealingKeys(keyOf("other", 3)),
    ];
    const prefix = "{sealed}";
    const run = async (keys?: typeof first): Promise<unknown> =>
      (await open({ keys, prefix }).execute(code("x"))).value;
    await work(async () => "done", { keys: first, prefix });
    expect(await run(first)).toBe("done");
    for (const keys of [other, undefined]) {
      await expect(run(keys)).rejects.toMatchObject({ code: "STORE_SEALED" });
      await expect(work(async () => "done", { keys, prefix })).rejects.toMatchObject({
        code: "STORE_SEALED",
      });
    }
    await work(async () => "done", { keys: both, prefix });
    expect(await run(both)).toBe("done");
  });

  it("has others executed while runs wait for people", async () => {
    await work(
      async (input, { onElicit, signal = new AbortController().signal }) =>
        input === "ask"
          ? await onElicit?.({ mode: "form", server: "s", message: "?", requestedSchema: {}, signal })
          : input,
      { concurrency: 1 },
    );
    const queue = open();
    const answers: ((answer: { action: "decline" }) => void)[] = [];
    const onElicit = () => new Promise<{ action: "decline" }>((resolve) => answers.push(resolve));
    const asking = [1, 2].map(() => queue.execute(code("ask"), { onElicit }));
    await expect.poll(() => answers.length).toBe(2);
    expect((await queue.execute(code("quick"))).value).toBe("quick");
    for (const answer of answers) answer({ action: "decline" });
    for (const run of asking) expect((await run).value).toEqual({ action: "decline" });
  });

  it("goes on where a run ends while its question is on its way", async () => {
    const problems: unknown[] = [];
    const note = (reason: unknown): void => void problems.push(reason);
    process.on("unhandledRejection", note);
    onTestFinished(() => void process.off("unhandledRejection", note));
    await work(async (_, { onElicit }) => {
      const ended = new AbortController();
      const asked = onElicit?.({ message: "?", signal: ended.signal, server: "s" } as never).catch(
        (error: Error) => error.message,
      );
      ended.abort();
      await sleep(50);
      return asked;
    });
    const { value } = await open().execute(code("x"), {
      onElicit: async () => ({ action: "accept", content: {} }),
    });
    expect(value).toBe("The call has ended.");
    expect(problems).toEqual([]);
  });

  it("puts nothing in clear into the server where there are keys", async () => {
    const keys = parseSealingKeys(`one:${Buffer.alloc(32, 1).toString("base64")}`);
    await work(
      async (input, { onEvent }) => {
        onEvent?.({ type: "output", chunk: { stream: "stdout", text: input } });
        return input;
      },
      { keys },
    );
    const seen: string[] = [];
    const client = new Redis(server().url);
    const monitor = await client.monitor();
    monitor.on("monitor", (_, args: string[]) => seen.push(args.join(" ")));
    const { value } = await open({ keys }).execute(code("canary-4711", "ada"), { onEvent: () => {} });
    expect(value).toBe("canary-4711");
    monitor.disconnect();
    client.disconnect();
    expect(seen.length).toBeGreaterThan(5);
    expect(seen.filter((one) => one.includes("canary-4711"))).toEqual([]);
  });

  it("gives runs to others that a worker can't finish before it has to stop, unless they did what is not to be repeated", async () => {
    const doing: string[] = [];
    const waits: Work = async (input, { onCall, signal }) => {
      await onCall?.(input === "send" ? UNSAFE : SAFE);
      doing.push(input);
      await sleep(60_000, undefined, { signal: signal ?? new AbortController().signal });
    };
    const stopped = await work(waits, { drainMs: 50 });
    const queue = open();
    const running = Promise.all([queue.execute(code("send")), queue.execute(code("read"))]);
    await expect.poll(() => doing.toSorted()).toEqual(["read", "send"]);
    await stopped.close();
    await work(async (input) => `${input} again`);
    const [sent, read] = await running;
    expect(sent.error).toMatchObject({ code: "RUN_INTERRUPTED", details: { calls: ["s.send"] } });
    expect(sent.error?.message).toContain("The worker was stopped");
    expect(read).toMatchObject({ status: "success", value: "read again" });
    expect(await queue.counts()).toMatchObject({ waiting: 0, dead: 0, workers: 1 });
  });

  it("repeats a run with its id, and tells what was called before where the repeat is refused", async () => {
    const ids: (string | undefined)[] = [];
    const reasons: unknown[] = [];
    const waits: Work = async (_, { onCall, runId, signal }) => {
      await onCall?.(SAFE);
      ids.push(runId);
      signal?.addEventListener("abort", () => reasons.push(signal.reason));
      await sleep(60_000, undefined, { signal: signal ?? new AbortController().signal });
    };
    const stopped = await work(waits, { drainMs: 50 });
    const running = open().execute(code("x"));
    await expect.poll(() => ids).toHaveLength(1);
    await stopped.close();
    const agent = agentOf(async (_, { runId }) => ids.push(runId));
    const executeCode: typeof agent.executeCode = async (...given) => ({
      ...(await agent.executeCode(...given)),
      status: "refused",
    });
    const refusing = await startQueueWorker({
      url: server().url,
      agentFor: async () => ({ ...agent, executeCode }),
    });
    onTestFinished(() => refusing.close());
    expect(await running).toMatchObject({ status: "refused", toolCalls: [{ server: "s", tool: "read" }] });
    expect(ids).toEqual([expect.stringMatching(/^run-/), ids[0]]);
    // By this, a meter charges it once.
    expect(reasons).toMatchObject([{ code: "ABORTED", details: { isInterrupted: true } }]);
  });

  it("keeps no run as failed that was stopped or cancelled while its agent prepared it", async () => {
    const preparing: string[] = [];
    // As an agent that waits for the files of the run.
    const executeCode: Agent["executeCode"] = async (
      input,
      { signal = new AbortController().signal } = {},
    ) => {
      preparing.push(input);
      await abandonOnAbort(new Promise(() => {}), signal);
      throw new Error("unreachable");
    };
    const agentFor = async () => ({ ...agentOf(async () => 1), executeCode });
    const [queue, cancelling] = [open(), new AbortController()];
    const worker = await work(async () => 1, { agentFor, drainMs: 50 });
    const running = queue.execute(code("stopped"));
    const cancelled = queue.execute(code("cancelled"), { signal: cancelling.signal });
    await expect.poll(() => preparing.toSorted()).toEqual(["cancelled", "stopped"]);
    cancelling.abort();
    expect((await cancelled).error).toMatchObject({ code: "ABORTED", message: "The run was cancelled." });
    await worker.close();
    await work(async (input) => `${input} again`);
    expect(await running).toMatchObject({ status: "success", value: "stopped again" });
    expect(await queue.counts()).toMatchObject({ waiting: 0, running: 0, dead: 0 });
  });
});

describeWith("redis-server")("a server that may drop jobs, or has no such database", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  const agentFor = () => Promise.reject(new Error("There is no agent."));

  it("is refused by hosts and workers, until it drops none", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await client.config("SET", "maxmemory-policy", "volatile-lru");
    const refusal = {
      code: "STORE_UNAVAILABLE",
      message: expect.stringContaining("maxmemory-policy volatile-lru). Set noeviction."),
      details: { problem: "evicts" },
    };
    const queue = createRunQueue({ url: server.url });
    onTestFinished(() => queue.close());
    await expect(queue.counts()).rejects.toMatchObject(refusal);
    await expect(startQueueWorker({ url: server.url, agentFor })).rejects.toMatchObject(refusal);
    await client.config("SET", "maxmemory-policy", "noeviction");
    expect(await queue.counts()).toMatchObject({ waiting: 0 });
  });

  it.each(["99", "staging"])("is refused where it has no database %s", async (database) => {
    const url = server.url.replace(/0$/u, database);
    const refusal = { code: "STORE_UNAVAILABLE", details: { problem: "database" } };
    const queue = createRunQueue({ url });
    onTestFinished(() => queue.close());
    await expect(queue.counts()).rejects.toMatchObject(refusal);
    await expect(startQueueWorker({ url, agentFor, lostAfterMs: 500 })).rejects.toMatchObject(refusal);
  });

  it("is refused where CONFIG is not permitted", async () => {
    const client = new Redis(server.url);
    onTestFinished(() => client.disconnect());
    await client.acl("SETUSER", "managed", "on", ">secret", "~*", "&*", "+@all", "-config");
    await client.config("SET", "maxmemory-policy", "allkeys-lru");
    const url = server.url.replace("//", "//managed:secret@");
    await expect(startQueueWorker({ url, agentFor })).rejects.toMatchObject({
      details: { problem: "evicts" },
    });
  });
});

it("takes no runs from others where its agent is missing", async () => {
  const settings = { url: "redis://127.0.0.1:1/0" } as QueueWorkerSettings;
  await expect(startQueueWorker(settings)).rejects.toMatchObject({
    code: "OPTION_INVALID",
    message: expect.stringContaining("agentFor"),
  });
});

describeWith("redis-server")("a queue that was closed", () => {
  const { open } = realQueue();

  it("stays closed", async () => {
    const queue = open();
    await queue.counts();
    await queue.close();
    await expect(queue.counts()).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

it("says which server can't be reached", async () => {
  const queue = createRunQueue({ url: "redis://ada:secret@127.0.0.1:1/0" });
  await expect(queue.execute({ kind: "code", input: "1" })).rejects.toMatchObject({
    code: "STORE_UNAVAILABLE",
    message: expect.stringMatching(/^The store at redis:\/\/127\.0\.0\.1:1\/0 can't be used/) as string,
  });
  await queue.close();
});

/** Notes all that a server has. @returns a function that sets it back to that, as a failover to an older replica does */
async function noteState(url: string): Promise<() => Promise<void>> {
  const client = new Redis(url);
  onTestFinished(() => client.disconnect());
  const noted: [name: string, content: Buffer][] = [];
  for (const name of await client.keys("*")) {
    const content = await client.dumpBuffer(name);
    if (content !== null) noted.push([name, content]);
  }
  return async () => {
    const all = client.multi().flushall();
    for (const [name, content] of noted) all.restore(name, 0, content);
    await all.exec();
    for (const type of ["normal", "pubsub"])
      await client.call("CLIENT", "KILL", "TYPE", type, "SKIPME", "yes");
  };
}

/** Takes the signs of life of the workers that there are, so that the next one finds them lost, though their process lives. */
async function silence(url: string, next: () => Promise<unknown>): Promise<void> {
  const client = new Redis(url);
  const signs = "{cem}:workers:signs";
  const lost = await client.zrange(signs, "0", "-1");
  await next();
  const runs = createSharedRuns(client, "{cem}");
  // In one go: they sign again soon.
  const left = async (): Promise<number> => {
    const [, , scores] = await Promise.all([
      client.zadd(signs, "XX", ...lost.flatMap((id) => [1, id])),
      runs.sign("finder", { slots: 0, keepsGuests: false, lostAfterMs: 600 }, []),
      client.zmscore(signs, lost),
    ]);
    return scores.filter((score) => score !== null).length;
  };
  await expect.poll(left).toBe(0);
  await runs.leave("finder");
  client.disconnect();
}
