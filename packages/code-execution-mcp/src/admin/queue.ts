import type { DeadRun, QueueCounts, RunQueue } from "@cem/queue";
import { loadConfig } from "../wiring/load.ts";
import { requireQueueConnection } from "../wiring/run-queue.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** How many runs are where in the queue of the configuration. */
export function queueCounts(source: ServerSource = {}): Promise<QueueCounts> {
  return withQueue(source, (queue) => queue.counts());
}

/** The runs that no worker could carry out, the newest first. */
export function deadRuns(source: ServerSource = {}): Promise<DeadRun[]> {
  return withQueue(source, (queue) => queue.dead());
}

/** Puts such a run into the queue again. @returns whether there was one */
export function retryDeadRun(id: string, source: ServerSource = {}): Promise<boolean> {
  return withQueue(source, (queue) => queue.retry(id));
}

async function withQueue<T>(
  { cwd, configFile, config, trustFolder }: ServerSource,
  ask: (queue: RunQueue) => Promise<T>,
): Promise<T> {
  const loaded = await loadConfig({ cwd, file: configFile, overrides: config, trustFolder });
  const connection = await requireQueueConnection(loaded);
  const { createRunQueue } = await import("@cem/queue");
  const queue = createRunQueue(connection);
  try {
    return await ask(queue);
  } finally {
    await queue.close();
  }
}
