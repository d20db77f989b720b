import { randomBytes } from "node:crypto";
import { keysIn } from "@cem/core";
import type { Store, StoreKey } from "@cem/core";

/** Retention limits of run records: number, total size and age. */
export interface RunRecordBounds {
  count: number;
  bytes: number;
  ageMs: number;
}

/** Records beyond the bounds are removed after so many records or bytes of this process. */
const PRUNE_RECORDS = 100;
const PRUNE_BYTES = 4 * 1024 * 1024;
/** Keys sort so that the newest record is first. */
const END_OF_TIME = 10 ** 14;
const TIME_DIGITS = 14;

/** The values of records in a store. Their keys tell when they were written and how large they are, so that none is read to remove it. */
export class StoredRecords {
  readonly #store: Store;
  readonly #bounds: RunRecordBounds;
  readonly #added = { count: Infinity, bytes: 0 };

  constructor(store: Store, bounds: RunRecordBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** The keys of all records, the newest first. */
  async keys(): Promise<StoreKey[]> {
    const keys: StoreKey[] = [];
    for await (const key of keysIn(this.#store, ["records"])) keys.push(key);
    return keys;
  }

  async read(key: StoreKey): Promise<Uint8Array | undefined> {
    return (await this.#store.read(key))?.value;
  }

  async add(records: readonly Uint8Array[]): Promise<void> {
    await Promise.all(records.map((record) => this.#store.write(newKey(record.byteLength), record)));
    this.#added.count += records.length;
    for (const { byteLength } of records) this.#added.bytes += byteLength;
    if (this.#added.count < PRUNE_RECORDS && this.#added.bytes < PRUNE_BYTES) return;
    Object.assign(this.#added, { count: 0, bytes: 0 });
    await this.#prune();
  }

  async #prune(): Promise<void> {
    const { count, bytes, ageMs } = this.#bounds;
    const kept = { count: 0, bytes: 0 };
    for (const key of await this.keys()) {
      const [, time, , size] = key;
      kept.count += 1;
      kept.bytes += Number(size);
      const isOld = END_OF_TIME - Number(time) < Date.now() - ageMs;
      if (isOld || kept.count > count || kept.bytes > bytes) await this.#store.remove(key);
    }
  }
}

function newKey(bytes: number): StoreKey {
  const time = String(END_OF_TIME - Date.now()).padStart(TIME_DIGITS, "0");
  return ["records", time, randomBytes(6).toString("hex"), String(bytes)];
}
