import type { Store } from "@cem/core";
import type { CustomerFolders } from "@cem/workspace";
import { keyOfCustomer } from "./shared-keys.ts";

/** Removes everything of a customer: the folder, and what machines share of it. @throws CemError `CUSTOMER_NOT_FOUND` */
export async function removeCustomer(
  folders: CustomerFolders,
  id: string,
  store: Store | undefined,
): Promise<void> {
  await folders.remove(id);
  await store?.removeAll(keyOfCustomer(id));
}
