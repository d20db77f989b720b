import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { startRedis } from "../../../packages/store/test/redis-server.ts";
import { connectClient, JOBS, queueProject } from "./testing/queue-machines.ts";
import { describeWith } from "../../../vitest.tools.ts";

/** Few: each goes through a guest. `npm run test:queue-faults` takes many that do not. */
const RUNS = 40;
const CLIENTS = 8;
const WORKERS = 2;
const HOUR_MS = 3_600_000;

describeWith("redis-server")("workers that are killed at random", () => {
  it(
    "answer each run once, or end it as interrupted, and do nothing twice",
    { timeout: HOUR_MS },
    async () => {
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      const project = await queueProject(redis.url);
      const url = await project.serve();
      const workers = await Promise.all(Array.from({ length: WORKERS }, () => project.work()));
      const over = new AbortController();
      let kills = 0;
      const killing = (async () => {
        while (!over.signal.aborted) {
          await delay(500 + Math.random() * 2_000);
          const at = Math.floor(Math.random() * WORKERS);
          workers[at]?.kill("SIGKILL");
          kills += 1;
          workers[at] = await project.work();
        }
      })();
      const results = new Map<number, Record<string, unknown>>();
      let next = 0;
      const client = async (): Promise<void> => {
        const { execute, close } = await connectClient(url);
        for (let run = (next += 1); run <= RUNS; run = next += 1) {
          const ms = Math.floor(Math.random() * 200);
          const code = `${JOBS} await look({ id: "${run}", ms: ${ms} }); return await send({ id: "${run}", ms: ${ms} });`;
          results.set(run, await execute(code));
        }
        await close();
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      over.abort();
      await killing;
      const sent = project.calls().filter((call) => call.startsWith("send "));
      const answered = [...results].filter(([, { success }]) => success === true);
      const interrupted = [...results].filter(([, { error }]) => String(error).includes("is not repeated"));
      console.log(
        `${RUNS} runs, ${kills} kills: ${answered.length} answered, ${interrupted.length} interrupted`,
      );
      expect(answered.length + interrupted.length).toBe(RUNS);
      expect(new Set(sent).size).toBe(sent.length);
      for (const [run, { result }] of answered) expect(result).toEqual({ done: String(run) });
      expect(answered.filter(([run]) => !sent.includes(`send ${run}`))).toEqual([]);
      // Calls that were sent and not answered were interrupted.
      expect(sent.length).toBeLessThanOrEqual(RUNS);
      expect(sent.length).toBeGreaterThanOrEqual(answered.length);
    },
  );
});
