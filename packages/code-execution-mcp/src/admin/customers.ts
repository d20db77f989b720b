import type { LoadedConfig } from "@cem/config";
import type { CustomerFolders, CustomerUsage } from "@cem/workspace";
import { loadConfig, storeOf } from "../wiring/load.ts";
import { removeElsewhere } from "../wiring/remove-elsewhere.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** Settings of places that have something of customers. */
const PLACES = new Set(["customers.dir", "queue.url", "store.files", "store.url"]);

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
  await withFolders(source, (_, remove) => remove(id));
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
  return withFolders(source, async (folders, remove) => {
    const cleaned: CustomerUsage[] = [];
    for (const id of await folders.inactive(days)) {
      source.signal?.throwIfAborted();
      cleaned.push(await folders.usage(id));
      if (source.isDryRun !== true) await remove(id);
    }
    return cleaned;
  });
}

async function withFolders<Result>(
  { cwd, configFile, config, trustFolder }: ServerSource,
  action: (folders: CustomerFolders, remove: (id: string) => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const loaded = await loadConfig({ cwd, file: configFile, overrides: config, trustFolder });
  await assertNothingElsewhere(loaded);
  const store = storeOf(loaded);
  const { createCustomerFolders } = await import("@cem/workspace");
  const { dir, quotas } = loaded.config.customers;
  try {
    const folders = createCustomerFolders(dir, { quotas, store: await store?.get() });
    return await action(folders, (id) =>
      folders.remove(id, () => removeElsewhere({ config: loaded.config, store }, id)),
    );
  } finally {
    await (await store?.settled())?.close();
  }
}

/** @throws CemError `FOLDER_UNTRUSTED` where customers have something in places that are held back: it would be left there. */
async function assertNothingElsewhere({ trust }: LoadedConfig): Promise<void> {
  const held = trust.held.find(({ name }) => PLACES.has(name));
  if (held === undefined) return;
  throw (await import("@cem/config")).folderUntrusted(`The setting ${held.name}`, trust.folder);
}
