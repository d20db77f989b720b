import type { Config } from "@cem/config";
import type { CustomerFolders, CustomerUsage } from "@cem/workspace";
import { loadConfig, storeOf } from "../wiring/load.ts";
import { openConfiguredQueue } from "../wiring/run-queue.ts";
import { deleteSharedFiles } from "../wiring/shared-files.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** Lists customers with what each has on this machine, and has used on all that share the store. */
export async function listCustomers(source: ServerSource = {}): Promise<CustomerUsage[]> {
  return withFolders(source, async (folders) => {
    const usages: CustomerUsage[] = [];
    for (const id of await folders.list()) {
      source.signal?.throwIfAborted();
      usages.push(await folders.usage(id));
    }
    return usages;
  });
}

/** What one customer has on this machine, and has used. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function customerUsage(id: string, source: ServerSource = {}): Promise<CustomerUsage> {
  return withFolders(source, (folders) => folders.usage(id));
}

/** Removes everything of a customer, in the store and in the queue too. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function deleteCustomer(id: string, source: ServerSource = {}): Promise<void> {
  await withFolders(source, (folders, removeElsewhere) => folders.remove(id, () => removeElsewhere(id)));
}

/**
 * Removes the customers that were not used for some days.
 *
 * @param source - With `isDryRun` nothing is removed.
 * @returns those that were removed, or would be.
 */
export async function cleanCustomers(
  days: number,
  source: ServerSource & { isDryRun?: boolean | undefined } = {},
): Promise<CustomerUsage[]> {
  return withFolders(source, async (folders, removeElsewhere) => {
    const cleaned: CustomerUsage[] = [];
    for (const id of await folders.inactive(days)) {
      source.signal?.throwIfAborted();
      cleaned.push(await folders.usage(id));
      if (source.isDryRun !== true) await folders.remove(id, () => removeElsewhere(id));
    }
    return cleaned;
  });
}

/** Removes a customer's shared files, and their runs from the queue. @returns whether there were files */
type RemoveElsewhere = (id: string) => Promise<boolean>;

async function withFolders<Result>(
  { cwd, configFile, config }: ServerSource,
  action: (folders: CustomerFolders, removeElsewhere: RemoveElsewhere) => Promise<Result>,
): Promise<Result> {
  const loaded = await loadConfig({ cwd, file: configFile, overrides: config });
  const store = storeOf(loaded);
  const { createCustomerFolders } = await import("@cem/workspace");
  const { dir, quotas } = loaded.config.customers;
  try {
    const folders = createCustomerFolders(dir, { quotas, store: await store?.get() });
    return await action(folders, async (id) => {
      await removeQueued(loaded.config, id);
      return deleteSharedFiles({ ...loaded, store }, id);
    });
  } finally {
    await (await store?.settled())?.close();
  }
}

async function removeQueued(config: Config, id: string): Promise<void> {
  const queue = await openConfiguredQueue(config);
  try {
    await queue?.removeCustomer(id);
  } finally {
    await queue?.close();
  }
}
