import { Redis } from "ioredis";
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest";
import { startRedis } from "../../store/test/redis-server.ts";
import type { RedisServer } from "../../store/test/redis-server.ts";
import { createRunQueue, startQueueWorker } from "../src/index.ts";
import type { QueueWorker, QueueWorkerSettings, RunQueue, RunQueueSettings } from "../src/index.ts";
import { agentOf } from "./agent-of.ts";
import type { Work } from "./agent-of.ts";

/** Hosts and workers on a server of the tests' own, which is empty at the begin of each. */
export function realQueue(): {
  server: () => RedisServer;
  open: (settings?: Partial<RunQueueSettings>) => RunQueue;
  work: (doing: Work, settings?: Partial<QueueWorkerSettings>) => Promise<QueueWorker>;
} {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());
  beforeEach(async () => {
    const client = new Redis(server.url);
    await client.flushall();
    client.disconnect();
  });
  return {
    server: () => server,
    open: (settings = {}) => {
      const queue = createRunQueue({ url: server.url, ...settings });
      onTestFinished(() => queue.close());
      return queue;
    },
    work: async (doing, settings = {}) => {
      const worker = await startQueueWorker({
        url: server.url,
        agentFor: async () => agentOf(doing),
        ...settings,
      });
      onTestFinished(() => worker.close());
      return worker;
    },
  };
}
