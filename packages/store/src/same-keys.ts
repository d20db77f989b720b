import { CemError, keysIn, updateStored } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { sealStore } from "./sealed-store.ts";
import type { SealingKey } from "./sealed-store.ts";

/** The mark of a sealed store: the name of the newest key, sealed with it. Error messages show this key as it is. */
const MARK: StoreKey = ["store"];
/** How long a comparison is valid. Another process may make the mark, or empty the store, while this one runs. */
const LOOK_PERIOD_MS = 1_000;
/** Number of values to try in a store without a mark. */
const MAX_TRIED = 100;

/**
 * Seals a store if there are keys, and refuses every use of it with keys that don't open the mark of the others, or without
 * any. Values that were sealed with other keys, or not at all, would shut out everyone else from what belongs to them.
 *
 * A store from before there were marks gets one when it is used with keys that open one of its first values.
 *
 * @param passedOver - The key of a value that says nothing about a store.
 * @returns A store whose methods also reject with `STORE_SEALED`.
 */
export function requireSameKeys(
  store: Store,
  keys: readonly SealingKey[] = [],
  passedOver: StoreKey = [],
): Store {
  const [newest] = keys;
  const sealed = sealStore(store, keys);
  const own = newest === undefined ? store : sealed;
  let looked: { atMs: number; isSame: Promise<unknown> } | undefined;

  async function compare(): Promise<unknown> {
    // Without keys, reading a mark fails.
    if (newest === undefined) return sealed.read(MARK);
    // Replaced by the newest key, so that the older ones can be left out in the end.
    return updateStored(sealed, MARK, async (found) => {
      if (found === undefined) await requireOpening(sealed, passedOver);
      const isNewest = found !== undefined && Buffer.from(found).toString() === newest.id;
      return { value: isNewest ? undefined : Buffer.from(newest.id), result: undefined };
    });
  }

  async function ifSame<Result>(use: () => Promise<Result>): Promise<Result> {
    if (looked === undefined || performance.now() - looked.atMs > LOOK_PERIOD_MS) {
      const isSame = compare();
      looked = { atMs: performance.now(), isSame };
      isSame.catch(() => (looked = undefined));
    }
    await looked.isSame;
    return use();
  }

  return {
    specificationVersion: "v1",
    location: store.location,
    read: (key) => ifSame(() => own.read(key)),
    write: (key, value, options) => ifSame(() => own.write(key, value, options)),
    remove: (key, version) => ifSame(() => own.remove(key, version)),
    list: (prefix, options) => ifSame(() => own.list(prefix, options)),
    now: () => own.now(),
    removeAll: (prefix) => ifSame(() => own.removeAll(prefix)),
    close: () => own.close(),
  };
}

/** @throws CemError `STORE_SEALED` if none of the first values opens, since the others use the store without keys. */
async function requireOpening(sealed: Store, passedOver: StoreKey): Promise<void> {
  let tried = 0;
  let failure: CemError | undefined;
  for await (const key of keysIn(sealed, [])) {
    if ((tried += 1) > MAX_TRIED) break;
    if (key.join("/") === passedOver.join("/")) continue;
    try {
      if ((await sealed.read(key)) !== undefined) return;
    } catch (error) {
      if (!CemError.isInstance(error) || error.code !== "STORE_SEALED") throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
