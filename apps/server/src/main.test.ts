import { once } from "node:events";
import { describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { describeWith } from "../../../vitest.tools.ts";
import { start } from "../test/server-process.ts";

const TOKEN = "a-token-for-this-test-only";

describe("the server process", () => {
  it.each(["SIGTERM", "SIGHUP"] as const)(
    "listens as the environment says, gets ready, and stops cleanly by %s",
    async (signal) => {
      const { child, log } = start({ CEM_SERVER_HOST: "0.0.0.0", CEM_SERVER_TOKEN: TOKEN });
      await expect.poll(log).toContain('"msg":"listening on every address');
      const [, port = ""] = /localhost:(\d+)\/mcp/.exec(log()) ?? [];
      const at = (route: string) => fetch(`http://127.0.0.1:${port}${route}`);
      expect((await at("/healthz")).status).toBe(200);
      await expect.poll(async () => (await at("/readyz")).status).toBe(200);
      expect((await at("/metrics")).status).toBe(401);
      child.kill(signal);
      expect(await once(child, "close")).toEqual([0, null]);
      expect(log()).not.toContain(TOKEN);
      for (const line of log().trim().split("\n")) expect(JSON.parse(line)).toHaveProperty("level");
    },
  );

  it("says why it can't start and what helps, in one line", async () => {
    const { child, log } = start({ CEM_SERVER_HOST: "0.0.0.0" });
    expect(await once(child, "close")).toEqual([1, null]);
    expect(JSON.parse(log())).toMatchObject({
      level: "fatal",
      code: "ADDRESS_REFUSED",
      hint: expect.stringContaining("CEM_SERVER_TOKEN"),
    });
  });
});

describeWith("redis-server")("the server process with a queue and a store", () => {
  it("says which of them does not work, and ends, also while Redis hangs", async () => {
    const [queue, store] = await Promise.all([startRedis(), startRedis()]);
    onTestFinished(async () => void (await Promise.all([queue.stop(), store.stop()])));
    const urls = { CEM_QUEUE_URL: queue.url, CEM_STORE_URL: store.url };
    const { child, log } = start({ CEM_SERVER_TOKEN: TOKEN, ...urls });
    await expect.poll(log).toMatch(/localhost:\d+\/mcp|127\.0\.0\.1:\d+\/mcp/);
    const [, port = ""] = /:(\d+)\/mcp/.exec(log()) ?? [];
    const headers = { authorization: `Bearer ${TOKEN}` };
    const at = async (route: string): Promise<[number, string]> => {
      const answer = await fetch(`http://127.0.0.1:${port}${route}`, { headers });
      return [answer.status, await answer.text()];
    };
    expect(await at("/readyz")).toEqual([200, expect.stringContaining("ready; no worker takes runs")]);
    expect((await at("/metrics"))[1]).toContain("cem_queue_runs{");
    await store.kill();
    expect(await at("/readyz")).toEqual([503, expect.stringContaining("STORE_UNAVAILABLE")]);
    await store.start();
    await expect.poll(async () => (await at("/readyz"))[0]).toBe(200);
    queue.hang();
    expect(await at("/readyz")).toEqual([503, expect.stringContaining("did not answer within 4 s")]);
    expect(log()).toMatch(/did not answer within 4 s.*not ready/);
    expect(await at("/metrics")).toEqual([200, expect.not.stringContaining("cem_queue_runs{")]);
    child.kill("SIGTERM");
    expect(await once(child, "close")).toEqual([0, null]);
  });
});
