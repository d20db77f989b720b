import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import path from "node:path";
import { setImmediate } from "node:timers/promises";
import type { Config } from "@cem/config";
import { CemError, type StoreKey } from "@cem/core";
import type { RedactorSettings } from "@cem/pii";
import { vaultIn, type Project } from "../project.ts";
import { scopeOfSession } from "./scoped-redactor.ts";

/**
 * Where a redactor keeps personal data. A store holds it only encrypted with the store's keys.
 *
 * @throws CemError `CONFIG_INVALID` if values would have to be persisted in a store without keys.
 */
export async function configuredVaults(loaded: Project): Promise<Pick<RedactorSettings, "store" | "shared">> {
  const { config, store } = loaded;
  const place = vaultPlaceOf(loaded);
  if (place === "disk") {
    const { createVaultFiles, removeOldVaults } = await import("@cem/pii/vaults");
    removeOldVaults(config.privacy.vaultDir);
    return {
      store: createVaultFiles({ folder: vaultFolderOf(config), key: config.privacy.vaultKey?.reveal() }),
    };
  }
  if (place === "memory" || store === undefined) return {};
  const { createSharedVaults } = await import("@cem/pii/vaults");
  const { customerExists, customerKey } = await import("@cem/workspace");
  const opened = await store.get();
  const keyOf = async (session: string): Promise<StoreKey | undefined> => {
    const id = scopeOfSession(session);
    const digest = hash("sha256", session);
    if (id === undefined) return ["vaults", digest];
    const isThere = await customerExists(path.join(config.customers.dir, id), opened);
    return isThere ? customerKey(id, "vaults", digest) : undefined;
  };
  return { shared: createSharedVaults({ store: opened, keyOf }) };
}

/**
 * Tries the key on all vault files, including those of customers.
 *
 * @returns advice about older keys.
 * @throws CemError `VAULT_UNREADABLE` for a file that it does not open.
 */
export async function inspectVaults({ customers, privacy }: Config): Promise<string[]> {
  const { countOlderKeys } = await import("@cem/pii/vaults");
  const { createCustomerFolders } = await import("@cem/workspace");
  const ids = await createCustomerFolders(customers.dir).list();
  const folders = [privacy.vaultDir, ...ids.map((id) => vaultIn(path.join(customers.dir, id)))];
  let older = 0;
  for (const folder of folders) {
    older += countOlderKeys(folder, privacy.vaultKey?.reveal());
    // Yields, since a starting server may have requests to answer.
    await setImmediate();
  }
  return older === 0
    ? []
    : [`${older} files are encrypted with an older key: keep it in privacy.vault_key (CEM_VAULT_KEY)`];
}

/** Warns if machines share a store that can't hold personal data, since tokens are then valid on one machine only. */
export function vaultWarnings({ config, origins }: Pick<Project, "config" | "origins">): string[] {
  const { store, privacy } = config;
  const isChosen = origins["privacy.vault"]?.from !== "default";
  if (store.url === undefined || store.keys !== undefined || privacy.vault === "disk" || isChosen) return [];
  return [
    "store.url is set without store.keys (CEM_STORE_KEYS): values of persons stay in the memory of each machine, and a token of one stands for nothing on another.",
  ];
}

/** Storage of personal data: memory only, the disk, or the shared store. */
function vaultPlaceOf({ config, origins }: Project): "memory" | "disk" | "store" {
  const { store, privacy } = config;
  if (store.url === undefined) return privacy.vault;
  if (store.keys !== undefined)
    return privacy.vault === "memory" && origins["privacy.vault"]?.from !== "default" ? "memory" : "store";
  if (privacy.vault === "memory") return "memory";
  throw new CemError(
    "CONFIG_INVALID",
    "privacy.vault: disk keeps values of persons where store.url says, and they would not be encrypted there. Set store.keys (CEM_STORE_KEYS), or privacy.vault: memory.",
    { details: { setting: "store.keys" } },
  );
}

/** The folder of a session's values. Those of an owner are in the owner's folder, as long as the owner exists. */
function vaultFolderOf(config: Config): (session: string) => string | undefined {
  return (session) => {
    const id = scopeOfSession(session);
    if (id === undefined) return config.privacy.vaultDir;
    const home = path.join(config.customers.dir, id);
    return existsSync(home) ? vaultIn(home) : undefined;
  };
}
