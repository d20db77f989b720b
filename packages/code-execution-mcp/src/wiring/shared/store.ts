import type { Config } from "@cem/config";
import { CemError, toErrorInfo, type Store } from "@cem/core";
import { hintFor } from "@cem/core/errors";
import type { SealingKey } from "@cem/store";
import type { Log } from "../log.ts";
import { assertOutOfReach } from "../project.ts";

/** Written to check that a store responds and is not full. */
export const PROBED = ["probe"];
const PROBED_MS = 60_000;

/**
 * Opens the store named by `store.url`, encrypted if there are keys. It connects on first use, and can't be used with other
 * keys than those of the other processes. The caller closes it.
 *
 * @throws CemError `CONFIG_INVALID` for invalid keys.
 */
export async function openStore(config: Config, url: string): Promise<Store> {
  const { requireSameKeys } = await import("@cem/store");
  return requireSameKeys(await openUnsealed(config, url), await sealingKeysOf(config), PROBED);
}

/** The keys that encrypt the contents of the store and of the queue. @throws CemError `CONFIG_INVALID` for invalid keys. */
export async function sealingKeysOf({ store }: Config): Promise<SealingKey[] | undefined> {
  if (store.keys === undefined) return undefined;
  const { parseSealingKeys } = await import("@cem/store");
  try {
    return parseSealingKeys(store.keys.reveal());
  } catch (error) {
    throw new CemError("CONFIG_INVALID", `store.keys (CEM_STORE_KEYS): ${toErrorInfo(error).message}`, {
      details: { setting: "store.keys" },
    });
  }
}

/** @throws CemError `STORE_UNAVAILABLE` for a store that does not respond or is full. */
export async function probeStore(store: Store): Promise<void> {
  await store.write(PROBED, Buffer.of(1), { expiresInMs: PROBED_MS });
}

/** Logs a shared service that can't be reached, with advice. Runs report it too. */
export async function reportUnreachable(probe: () => Promise<unknown>, log: Log): Promise<void> {
  try {
    await probe();
  } catch (thrown) {
    const error = toErrorInfo(thrown);
    log("error", [error.message, hintFor(error)].filter((text) => text !== undefined).join(" "));
  }
}

export async function openUnsealed(config: Config, url: string): Promise<Store> {
  const { isServerUrl } = await import("@cem/config");
  return isServerUrl(url) ? openServer(url) : openFolder(config, url);
}

async function openServer(url: string): Promise<Store> {
  if (url.startsWith("redis")) {
    const { createRedisStore } = await import("@cem/store/redis");
    return createRedisStore({ url });
  }
  const { createPostgresStore } = await import("@cem/store/postgres");
  return createPostgresStore({ url });
}

/** @throws CemError `CONFIG_INVALID` for a folder that code in the sandbox can reach. */
async function openFolder(config: Config, folder: string): Promise<Store> {
  const what = "What machines share";
  await assertOutOfReach(config, { folder, what, setting: "store.url", reached: [config.customers.dir] });
  const { createFolderStore } = await import("@cem/store");
  return createFolderStore({ folder });
}
