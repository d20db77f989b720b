import type { LoadedFor } from "./customer.ts";
import { openConfiguredQueue } from "./run-queue.ts";
import { deleteSharedFiles } from "./shared-files.ts";

/**
 * Removes what there is of a customer beyond folders and store: runs in the queue, and files that machines share.
 *
 * @returns whether there were files.
 */
export async function removeElsewhere(
  loaded: Pick<LoadedFor, "config" | "store">,
  id: string,
): Promise<boolean> {
  const queue = await openConfiguredQueue(loaded.config);
  try {
    await queue?.removeCustomer(id);
  } finally {
    await queue?.close();
  }
  return deleteSharedFiles(loaded, id);
}
