import { CemError } from "./errors.ts";

/**
 * Names a value in a {@link Store}: one to eight parts, each of 1 to 255 characters of any kind, in all at most 1,024
 * bytes in UTF-8. Keys sort part by part, by those bytes.
 */
export type StoreKey = readonly string[];

/** A value in a {@link Store}. */
export interface StoredValue {
  value: Uint8Array;
  /** Identifies this writing of the value. Never empty. */
  version: string;
}

/** Options of {@link Store.write}. */
export interface WriteOptions {
  /** The version to replace, as read before; empty for a value that must not exist yet. Absent: any version. */
  version?: string | undefined;
  /** Milliseconds, on the store's own clock, until the value expires; 0: at once. Absent, or `Infinity`: never. */
  expiresInMs?: number | undefined;
}

/** Options of {@link Store.list}. */
export interface ListOptions {
  /** Lists only keys after this one. */
  after?: StoreKey | undefined;
  /** The maximum number of keys, at most 1,000. @defaultValue 1000 */
  limit?: number | undefined;
}

/**
 * Values by key, shared by several hosts. A folder on one machine, Redis or PostgreSQL for many.
 *
 * Every method rejects with a CemError `STORE_UNAVAILABLE` when the store can't be reached or refuses, and
 * `STORE_KEY_INVALID` for an invalid key.
 */
export interface Store {
  readonly specificationVersion: "v1";
  /** Where it is, for people: `redis://host:6379/0`. Without user and password. */
  readonly location: string;
  read(key: StoreKey): Promise<StoredValue | undefined>;
  /**
   * Writes a value as a whole.
   *
   * @returns the new version.
   * @throws CemError `STORE_CONFLICT` when the stored version is not the given one; `STORE_VALUE_TOO_LARGE`.
   */
  write(key: StoreKey, value: Uint8Array, options?: WriteOptions): Promise<string>;
  /**
   * Removes a value.
   *
   * @param version - The version to remove. Absent: any version.
   * @returns whether it was there.
   * @throws CemError `STORE_CONFLICT` when the stored version is not the given one.
   */
  remove(key: StoreKey, version?: string): Promise<boolean>;
  /** The keys of values that begin with these parts, in order. An empty list lists all. */
  list(prefix: StoreKey, options?: ListOptions): Promise<StoreKey[]>;
  /** The store's own clock, in milliseconds: the one clock that all hosts share. */
  now(): Promise<number>;
  /** Removes all values whose keys begin with these parts; at least one. */
  removeAll(prefix: StoreKey): Promise<void>;
  /** Settings of the store that may make it lose data, each as a sentence. Absent where it has no such settings. */
  risks?(): Promise<string[]>;
  /** Frees the connection. */
  close(): Promise<void>;
}

/** About a second in all, with pauses of some milliseconds in between. */
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
 * @param change - Called with the stored value, and again with the new one when another host wrote meanwhile.
 * @throws CemError `STORE_UNAVAILABLE`; `STORE_CONFLICT` when other hosts win for a second.
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
