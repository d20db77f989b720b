import type { CustomerFolders, CustomerUsage } from "@cem/workspace";
import { loadConfig } from "../wiring/load.ts";
import type { ServerSource } from "./mcp-servers.ts";

/** Lists customers with what each has on disk. */
export async function listCustomers(source: ServerSource = {}): Promise<CustomerUsage[]> {
  const folders = await openFolders(source);
  const usages: CustomerUsage[] = [];
  for (const id of await folders.list()) {
    source.signal?.throwIfAborted();
    usages.push(await folders.usage(id));
  }
  return usages;
}

/** What one customer has on disk. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function customerUsage(id: string, source: ServerSource = {}): Promise<CustomerUsage> {
  return (await openFolders(source)).usage(id);
}

/** Removes everything of a customer. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function deleteCustomer(id: string, source: ServerSource = {}): Promise<void> {
  await (await openFolders(source)).remove(id);
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
  const folders = await openFolders(source);
  const cleaned: CustomerUsage[] = [];
  for (const id of await folders.inactive(days)) {
    source.signal?.throwIfAborted();
    cleaned.push(await folders.usage(id));
    if (source.isDryRun !== true) await folders.remove(id);
  }
  return cleaned;
}

async function openFolders({ cwd, configFile, config }: ServerSource): Promise<CustomerFolders> {
  const loaded = await loadConfig({ cwd, file: configFile, overrides: config });
  const { createCustomerFolders } = await import("@cem/workspace");
  const { dir, quotas } = loaded.config.customers;
  return createCustomerFolders(dir, { quotas });
}
