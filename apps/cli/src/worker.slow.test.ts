import { describe, expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { connectClient, JOBS, queueProject } from "./testing/queue-machines.ts";
import { runCem, temporaryFolder } from "./testing/run-cem.ts";
import { describeWith } from "../../../vitest.tools.ts";

describeWith("redis-server")("cem worker", () => {
  it("carries out a server's run, with its questions and approvals, and ends at SIGTERM", async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const project = await queueProject(redis.url);
    const [worker, url] = await Promise.all([project.work(), project.serve()]);
    const client = await connectClient(url);
    const code = `${JOBS} const who = await ask({}); await remove({ id: "r" }); return { who, sum: 6 * 7 };`;
    expect(await client.execute(code)).toMatchObject({
      success: true,
      result: { who: { name: "Ada" }, sum: 42 },
    });
    expect(client.asked).toEqual([expect.stringContaining("Who?"), expect.stringContaining("jobs.remove")]);
    worker.kill("SIGTERM");
    expect((await worker.ended).code).toBe(143);
    expect(worker.log()).toContain('"msg":"finishing"');
    await client.close();
  });
});

describe("cem worker and cem queue", () => {
  it("say what to start where there is no Redis, and which setting is missing", async () => {
    const cwd = temporaryFolder();
    const env = { CEM_QUEUE_URL: "redis://127.0.0.1:1/0" };
    for (const command of ["worker", "queue"]) {
      const { code, stderr } = await runCem([command], { cwd, env });
      expect([command, code]).toEqual([command, 1]);
      expect(stderr).toMatch(/ECONNREFUSED[^]*docker run .*valkey[^]*apt install redis-server/u);
      expect(await runCem([command], { cwd })).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("CEM_QUEUE_URL"),
      });
    }
  });
});
