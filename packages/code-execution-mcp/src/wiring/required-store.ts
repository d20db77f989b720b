import { CemError } from "@cem/core";
import type { Store } from "@cem/core";
import type { LoadedFor } from "./customer.ts";

/** @throws CemError `CONFIG_INVALID` where no store is configured, `FOLDER_UNTRUSTED` where it is held back. */
export async function requireStore(loaded: LoadedFor): Promise<Store> {
  return loaded.store?.get() ?? missing(loaded);
}

/** The URL of the store. @throws CemError as {@link requireStore} */
export async function requireStoreUrl(loaded: LoadedFor): Promise<string> {
  return loaded.config.store.url ?? missing(loaded);
}

async function missing({ trust }: LoadedFor): Promise<never> {
  if (trust.held.some(({ name }) => name === "store.url")) {
    const { folderUntrusted } = await import("@cem/config");
    throw folderUntrusted("The store", trust.folder);
  }
  throw new CemError(
    "CONFIG_INVALID",
    "No store is configured. Set store.url (CEM_STORE_URL) to that of Redis, PostgreSQL or a folder: redis://127.0.0.1:6379/0",
    { details: { setting: "store.url" } },
  );
}
