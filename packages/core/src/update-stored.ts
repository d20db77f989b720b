import { CemError } from "./errors.ts";
import type { Store, StoreKey, WriteOptions } from "./store.ts";

/** With pauses of some milliseconds between them, about a second. */
const MAX_ATTEMPTS = 200;
const MAX_PAUSE_MS = 10;

/** A change for {@link updateStored} to write, and its result. */
export interface StoredChange<Result> extends Pick<WriteOptions, "expiresInMs"> {
  /** Absent: nothing is written. */
  value?: Uint8Array | undefined;
  result: Result;
}

/**
 * Changes a value in a store, one host after another.
 *
 * @param change - Called with the stored value, and again with the new one where another host wrote meanwhile.
 * @throws CemError `STORE_UNAVAILABLE`; `STORE_CONFLICT` where others are faster for a second.
 */
export async function updateStored<Result>(
  store: Store,
  key: StoreKey,
  change: (found: Uint8Array | undefined) => StoredChange<Result> | Promise<StoredChange<Result>>,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await store.read(key);
    const { value, result, expiresInMs } = await change(found?.value);
    if (value === undefined) return result;
    try {
      await store.write(key, value, { version: found?.version ?? "", expiresInMs });
      return result;
    } catch (error) {
      const isOvertaken = CemError.isInstance(error) && error.code === "STORE_CONFLICT";
      if (!isOvertaken || attempt >= MAX_ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * MAX_PAUSE_MS));
    }
  }
}

/** All keys of a store that begin with these parts, in order, read page by page. */
export async function* keysIn(store: Store, prefix: StoreKey): AsyncGenerator<StoreKey> {
  let after: StoreKey | undefined;
  do {
    const page = await store.list(prefix, { after });
    yield* page;
    after = page.at(-1);
  } while (after !== undefined);
}
