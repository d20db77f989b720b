import { CemError, updateStored } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import type { SharedVaults } from "./redactor.ts";
import { Vault } from "./vault.ts";
import type { VaultData } from "./vault.ts";

/** How long after its last change a session's values are kept. */
const KEPT_MS = 30 * 86_400_000;

/** Settings of {@link createSharedVaults}. */
interface SharedVaultsSettings {
  /** Has to seal what it keeps. */
  store: Store;
  /** The key of a session's values. `undefined`: nothing of it is kept. */
  keyOf: (session: string) => Promise<StoreKey | undefined>;
}

/**
 * Keeps the values of sessions in a store, so that tokens of one machine stand for the same values on others. What several
 * machines add at the same time is joined. Values are kept for 30 days after the last change of their session.
 *
 * @throws CemError `STORE_UNAVAILABLE`, and `VAULT_UNREADABLE` for what is no vault.
 */
export function createSharedVaults({ store, keyOf }: SharedVaultsSettings): SharedVaults {
  return {
    async load(session) {
      const key = await keyOf(session);
      const found = key && (await store.read(key));
      return found && parse(found.value, session);
    },
    async save(session, data) {
      const key = await keyOf(session);
      if (key === undefined) return data;
      return updateStored(store, key, (found) => {
        const joined = found === undefined ? data : join(parse(found, session), data);
        return { value: Buffer.from(JSON.stringify(joined)), result: joined, expiresInMs: KEPT_MS };
      });
    },
  };
}

function join(kept: VaultData, own: VaultData): VaultData {
  const vault = new Vault(kept);
  vault.merge(own);
  return vault.toJSON();
}

function parse(bytes: Uint8Array, session: string): VaultData {
  try {
    const data = JSON.parse(Buffer.from(bytes).toString("utf8")) as VaultData;
    if (data.version === 1 && Array.isArray(data.entries)) return data;
  } catch {
    // Said below.
  }
  throw new CemError(
    "VAULT_UNREADABLE",
    `The values of the session ${JSON.stringify(session)} in the store can't be read.`,
  );
}
