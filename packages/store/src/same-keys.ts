import { CemError, keysIn, updateStored } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";
import { sealStore } from "./sealed-store.ts";
import type { SealingKey } from "./sealed-store.ts";

/** The mark of a sealed store: the name of the newest key, sealed with it. Error messages show this key as it is. */
const MARK: StoreKey = ["store"];
/** The mark of a store that is used without keys, made when such a process first writes. */
const CLEAR = Buffer.from("clear");
/** By then, values in clear text say as much. The mark of values that are gone must not shut out keys for good. */
const CLEAR_MS = 60_000;
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
  const isPassedOver = (key: StoreKey): boolean => key.join("/") === passedOver.join("/");
  const own = newest === undefined ? store : sealed;
  let looked: { atMs: number; isWrite: boolean; isSame: Promise<unknown> } | undefined;

  async function compare(isWrite: boolean): Promise<unknown> {
    // Without keys, reading the mark of others fails. Theirs fails on this one, also before there are values.
    if (newest === undefined)
      return updateStored(store, MARK, async (found) => {
        if (found !== undefined && !CLEAR.equals(found)) await sealed.read(MARK);
        const value = found === undefined && isWrite ? CLEAR : undefined;
        return { value, result: undefined, expiresInMs: CLEAR_MS };
      });
    // Replaced by the newest key, so that the older ones can be left out in the end.
    return updateStored(sealed, MARK, async (found) => {
      if (found === undefined) await requireOpening(sealed, isPassedOver);
      const isNewest = found !== undefined && Buffer.from(found).toString() === newest.id;
      return { value: isNewest ? undefined : Buffer.from(newest.id), result: undefined };
    });
  }

  async function ifSame<Result>(use: () => Promise<Result>, isWrite = false): Promise<Result> {
    const isOld = looked === undefined || performance.now() - looked.atMs > LOOK_PERIOD_MS;
    if (isOld || (isWrite && looked?.isWrite !== true)) {
      const isSame = compare(isWrite);
      looked = { atMs: performance.now(), isWrite, isSame };
      isSame.catch(() => (looked = undefined));
    }
    await looked?.isSame;
    return use();
  }

  return {
    specificationVersion: "v1",
    location: store.location,
    read: (key) => ifSame(() => own.read(key)),
    write: (key, value, options) => ifSame(() => own.write(key, value, options), !isPassedOver(key)),
    remove: (key, version) => ifSame(() => own.remove(key, version)),
    list: (prefix, options) => ifSame(() => own.list(prefix, options)),
    now: () => own.now(),
    removeAll: (prefix) => ifSame(() => own.removeAll(prefix)),
    close: () => own.close(),
  };
}

/** @throws CemError `STORE_SEALED` if none of the first values opens, since the others use the store without keys. */
async function requireOpening(sealed: Store, isPassedOver: (key: StoreKey) => boolean): Promise<void> {
  let tried = 0;
  let failure: CemError | undefined;
  for await (const key of keysIn(sealed, [])) {
    if ((tried += 1) > MAX_TRIED) break;
    if (isPassedOver(key)) continue;
    try {
      if ((await sealed.read(key)) !== undefined) return;
    } catch (error) {
      if (!CemError.isInstance(error) || error.code !== "STORE_SEALED") throw error;
      failure ??= error;
    }
  }
  if (failure !== undefined) throw failure;
}
