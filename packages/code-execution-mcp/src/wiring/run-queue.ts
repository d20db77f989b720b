import type { Config, LoadedConfig } from "@cem/config";
import { CemError } from "@cem/core";
import type { QueueConnection, RunQueue } from "@cem/queue";
import { sealingKeysOf } from "./shared-store.ts";

/**
 * The queue that runs wait in. `undefined` where this process carries them out itself.
 *
 * @throws CemError `CONFIG_INVALID` for keys that are none.
 */
export async function openConfiguredQueue(config: Config): Promise<RunQueue | undefined> {
  const connection = await connectionOf(config);
  if (connection === undefined) return undefined;
  const { createRunQueue } = await import("@cem/queue");
  return createRunQueue({ ...connection, maxWaiting: config.queue.maxWaiting });
}

/**
 * How a worker, or who looks at the queue, reaches it.
 *
 * @throws CemError `CONFIG_INVALID` where none is configured, `FOLDER_UNTRUSTED` where it is held back.
 */
export async function requireQueueConnection({ config, trust }: LoadedConfig): Promise<QueueConnection> {
  const connection = await connectionOf(config);
  if (connection !== undefined) return connection;
  if (trust.held.some(({ kind }) => kind === "queue")) {
    const { folderUntrusted } = await import("@cem/config");
    throw folderUntrusted("The queue", trust.folder);
  }
  throw new CemError(
    "CONFIG_INVALID",
    "No queue is configured. Set queue.url (CEM_QUEUE_URL) to that of Redis or Valkey: redis://127.0.0.1:6379/0",
    { details: { setting: "queue.url" } },
  );
}

async function connectionOf(config: Config): Promise<QueueConnection | undefined> {
  const { url, prefix } = config.queue;
  return url === undefined ? undefined : { url, prefix, keys: await sealingKeysOf(config) };
}
