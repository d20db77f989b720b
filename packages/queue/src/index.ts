export { startQueueWorker } from "./queue-worker.ts";
export type { QueueWorker, QueueWorkerSettings } from "./queue-worker.ts";
export { createRunQueue } from "./redis-run-queue.ts";
export type {
  DeadRun,
  QueueConnection,
  QueueCounts,
  QueueLoad,
  RunQueue,
  RunQueueSettings,
} from "./run-queue.ts";
export { createReplicas } from "./replicas.ts";
export type { QueuedReplicas } from "./replicas.ts";
export type { RunningAgent } from "./worker-run.ts";
