import type { LoadedConfig } from "@cem/config";
import type { DeadRun, QueueLoad, RunQueue } from "@cem/queue";
import type { CustomerFolders, CustomerUsage } from "@cem/workspace";
import type { ServerSource } from "../options.ts";
import { openCustomerFolders } from "../wiring/http/clients.ts";
import { loadConfig, storeOf } from "../wiring/open-project.ts";
import { requireQueueConnection } from "../wiring/shared/queue.ts";

/** Settings that name places with data of customers. */
const PLACES = new Set(["customers.dir", "queue.url", "store.files", "store.url"]);

/**
 * Lists customers with the data of each on this machine, and its usage on all machines that share the store.
 *
 * @param most - How many customers are measured, which reads the size of all their files. The others are only counted.
 */
export async function listCustomers(
  source: ServerSource = {},
  most = Infinity,
): Promise<{ customers: CustomerUsage[]; others: number }> {
  return withFolders(source, async (folders) => {
    const customers: CustomerUsage[] = [];
    const ids = await folders.list();
    for (const id of ids.slice(0, most)) {
      source.signal?.throwIfAborted();
      customers.push(await folders.usage(id));
    }
    return { customers, others: ids.length - customers.length };
  });
}

/** Data and usage of one customer on this machine. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function customerUsage(id: string, source: ServerSource = {}): Promise<CustomerUsage> {
  return withFolders(source, (folders) => folders.usage(id));
}

/** Removes all data of a customer, including that in the store and the queue. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function deleteCustomer(id: string, source: ServerSource = {}): Promise<void> {
  await withFolders(source, (folders) => folders.remove(id));
}

/**
 * Removes customers that have been inactive for a number of days.
 *
 * @param source - With `isDryRun` nothing is removed.
 * @returns those that were removed, or would be.
 */
export async function cleanCustomers(
  days: number,
  source: ServerSource & { isDryRun?: boolean | undefined } = {},
): Promise<CustomerUsage[]> {
  return withFolders(source, async (folders) => {
    const cleaned: CustomerUsage[] = [];
    for (const id of await folders.inactive(days)) {
      source.signal?.throwIfAborted();
      cleaned.push(await folders.usage(id));
      if (source.isDryRun !== true) await folders.remove(id);
    }
    return cleaned;
  });
}

async function withFolders<Result>(
  source: ServerSource,
  action: (folders: CustomerFolders) => Promise<Result>,
): Promise<Result> {
  const loaded = await loadConfig(source);
  await assertNothingElsewhere(loaded);
  const store = storeOf(loaded.config);
  try {
    return await action(await openCustomerFolders({ config: loaded.config, store }));
  } finally {
    await (await store?.settled())?.close();
  }
}

/** @throws CemError `FOLDER_UNTRUSTED` if customers have data in places that are held back, where it would remain. */
async function assertNothingElsewhere({ trust }: LoadedConfig): Promise<void> {
  const held = trust.held.find(({ name }) => PLACES.has(name));
  if (held === undefined) return;
  throw (await import("@cem/config")).folderUntrusted(`The setting ${held.name}`, trust.folder);
}

/** The load of the configured queue. */
export function queueLoad(source: ServerSource = {}): Promise<QueueLoad> {
  return withQueue(source, (queue) => queue.load());
}

/** Dead-lettered runs, newest first. */
export function deadRuns(source: ServerSource = {}): Promise<DeadRun[]> {
  return withQueue(source, (queue) => queue.dead());
}

/** Requeues a dead run. @returns whether it existed */
export function retryDeadRun(id: string, source: ServerSource = {}): Promise<boolean> {
  return withQueue(source, (queue) => queue.retry(id));
}

async function withQueue<T>(source: ServerSource, ask: (queue: RunQueue) => Promise<T>): Promise<T> {
  const loaded = await loadConfig(source);
  const connection = await requireQueueConnection(loaded);
  const { createRunQueue } = await import("@cem/queue");
  const queue = createRunQueue(connection);
  try {
    return await ask(queue);
  } finally {
    await queue.close();
  }
}
