import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import type { RedisServer } from "../../../packages/store/test/redis-server.ts";
import { connectClient, JOBS, queueProject } from "./testing/queue-machines.ts";
import type { QueueProject } from "./testing/queue-machines.ts";
import { describeWith } from "../../../vitest.tools.ts";

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const POLL = { timeout: 60_000 };
/** The message for a run whose worker was lost after a call that must not be repeated. */
const INTERRUPTED = "It had called jobs.send. It is not repeated";

describeWith("redis-server")("servers and workers on a queue", () => {
  let redis: RedisServer;
  let project: QueueProject;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    project = await queueProject(redis.url);
  });
  const calls = (call: string): number => project.calls().filter((one) => one === call).length;

  it("repeat what only read when a worker is killed, and end the rest as interrupted", async () => {
    const [first, one, two] = await Promise.all([project.work(), project.serve(), project.serve()]);
    const [ada, bob] = [await connectClient(one), await connectClient(two)];
    const reading = ada.execute(`${JOBS} return await look({ id: "slow", ms: 3000 });`);
    const sending = bob.execute(`${JOBS} return await send({ id: "slow", ms: 3000 });`);
    await expect
      .poll(() => project.calls(), POLL)
      .toEqual(expect.arrayContaining(["look slow", "send slow"]));
    first.kill("SIGKILL");
    await project.work();
    expect(await reading).toMatchObject({ success: true, result: { done: "slow" } });
    expect((await sending)["error"]).toContain(INTERRUPTED);
    expect([calls("send slow"), calls("look slow")]).toEqual([1, 2]);
    await Promise.all([ada.close(), bob.close()]);
  });

  it("finish what is under way at SIGTERM, and leave the rest to another worker", async () => {
    const [worker, url] = await Promise.all([project.work(), project.serve()]);
    const client = await connectClient(url);
    const last = client.execute(`${JOBS} return await send({ id: "last", ms: 1500 });`);
    await expect.poll(() => calls("send last"), POLL).toBe(1);
    worker.kill("SIGTERM");
    await expect.poll(() => worker.log(), POLL).toContain('"msg":"finishing"');
    const next = client.execute(`${JOBS} return await send({ id: "next" });`);
    expect(await last).toMatchObject({ success: true, result: { done: "last" } });
    await worker.ended;
    expect(calls("send next")).toBe(0);
    await project.work();
    expect(await next).toMatchObject({ success: true, result: { done: "next" } });
    expect([calls("send last"), calls("send next")]).toEqual([1, 1]);
    await client.close();
  });

  it("do nothing more in a worker that was stopped and comes back", async () => {
    const [stopped, url] = await Promise.all([project.work(), project.serve()]);
    const client = await connectClient(url);
    const code = `${JOBS} await look({ id: "first", ms: 2000 }); return await send({ id: "then" });`;
    const running = client.execute(code);
    await expect.poll(() => calls("look first"), POLL).toBe(1);
    stopped.kill("SIGSTOP");
    await project.work();
    expect(await running).toMatchObject({ success: true, result: { done: "then" } });
    stopped.kill("SIGCONT");
    // It has come back when it takes runs again: of three slow ones the other takes two at once.
    const more = ["a", "b", "c"].map((id) =>
      client.execute(`${JOBS} return await send({ id: "${id}", ms: 500 });`),
    );
    expect(await Promise.all(more)).toMatchObject(["a", "b", "c"].map((id) => ({ result: { done: id } })));
    expect(calls("send then")).toBe(1);
    await client.close();
  });

  it("go on when Redis is restarted", async () => {
    const [, url] = await Promise.all([project.work(), project.serve()]);
    const client = await connectClient(url);
    const running = client.execute(`${JOBS} return await send({ id: "over", ms: 2500 });`);
    await expect.poll(() => calls("send over"), POLL).toBe(1);
    await redis.kill();
    await redis.start();
    const result = await running;
    expect(result["success"] === true || String(result["error"]).includes(INTERRUPTED)).toBe(true);
    expect(calls("send over")).toBe(1);
    expect(await client.execute(`${JOBS} return await look({ id: "after" });`)).toMatchObject({
      success: true,
    });
    await client.close();
  });

  it("say at /readyz that no worker is there, and that Redis is gone", async () => {
    const ready = new URL("/readyz", await project.serve());
    const said = async (): Promise<[number, string]> => {
      const answer = await fetch(ready);
      return [answer.status, await answer.text()];
    };
    // Those of the test before are missed some seconds after their ends.
    await expect
      .poll(said, POLL)
      .toEqual([200, "ready; no worker takes runs, and 0 runs wait. Start one: cem worker\n"]);
    const worker = await project.work();
    await expect.poll(said, POLL).toEqual([200, "ready\n"]);
    worker.kill("SIGKILL");
    await redis.kill();
    await expect.poll(said, POLL).toEqual([503, expect.stringContaining("STORE_UNAVAILABLE")]);
    await redis.start();
    await expect.poll(async () => (await said())[0], POLL).toBe(200);
  });
});
