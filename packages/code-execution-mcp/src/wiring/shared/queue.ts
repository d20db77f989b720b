import type { Config, LoadedConfig } from "@cem/config";
import { CemError } from "@cem/core";
import type { QueueConnection, QueuedReplicas, RunQueue } from "@cem/queue";
import type { Project } from "../project.ts";
import { probeStore, sealingKeysOf } from "./store.ts";

/** `undefined` if this process executes the runs itself. @throws CemError `CONFIG_INVALID` for invalid keys. */
export async function openConfiguredQueue(config: Config): Promise<RunQueue | undefined> {
  const connection = await connectionOf(config);
  if (connection === undefined) return undefined;
  const { createRunQueue } = await import("@cem/queue");
  return createRunQueue({ ...connection, maxWaiting: config.queue.maxWaiting });
}

/** The replicas that share the server's queue, `undefined` without one. @throws CemError `CONFIG_INVALID` for invalid keys. */
export async function openConfiguredReplicas(config: Config): Promise<QueuedReplicas | undefined> {
  const connection = await connectionOf(config);
  if (connection === undefined) return undefined;
  const { createReplicas } = await import("@cem/queue");
  return createReplicas(connection);
}

/** @throws CemError `CONFIG_INVALID` if none is configured, `FOLDER_UNTRUSTED` if it is held back. */
export async function requireQueueConnection({ config, trust }: LoadedConfig): Promise<QueueConnection> {
  const connection = await connectionOf(config);
  if (connection !== undefined) return connection;
  if (trust.held.some(({ name }) => name === "queue.url")) {
    const { folderUntrusted } = await import("@cem/config");
    throw folderUntrusted("The queue", trust.folder);
  }
  throw new CemError(
    "CONFIG_INVALID",
    "No queue is configured. Set queue.url (CEM_QUEUE_URL) to that of Redis or Valkey: redis://127.0.0.1:6379/0",
    { details: { setting: "queue.url" } },
  );
}

/**
 * Checks that runs can be enqueued, where there is a queue, and that the store and the audit log are usable, without which each
 * run would fail. A
 * server without workers is ready: its runs wait in the queue, so a load balancer keeps sending clients and workers can be
 * scaled up from zero.
 */
export async function probeShared(
  queue: RunQueue | undefined,
  { config: { logging }, store }: Pick<Project, "config" | "store">,
): Promise<{ lacks?: string }> {
  if (logging.auditFile !== undefined)
    (await import("@cem/guardrails/audit")).probeAuditLog(logging.auditFile);
  const [load] = await Promise.all([queue?.probe(), store?.get().then(probeStore)]);
  if (load === undefined || load.workers > 0) return {};
  const { waiting } = load;
  const runs = waiting === 1 ? "1 run waits" : `${waiting} runs wait`;
  return { lacks: `no worker takes runs, and ${runs}. Start one: cem worker` };
}

async function connectionOf(config: Config): Promise<QueueConnection | undefined> {
  const { url, prefix } = config.queue;
  return url === undefined ? undefined : { url, prefix, keys: await sealingKeysOf(config) };
}
