import { randomBytes } from "node:crypto";
import type { Store, StoreKey } from "@cem/core";

/** Retention limits of run records: number, total size and age. */
export interface RunRecordBounds {
  count: number;
  bytes: number;
  ageMs: number;
}

/** Limits of one segment. Records beyond a bound are removed by whole segments. */
const SEGMENT_RECORDS = 100;
const SEGMENT_BYTES = 4 * 1024 * 1024;
const SEGMENT_AGE_MS = 86_400_000;
/** Names sort so that the newest is first. */
const END_OF_TIME = 10 ** 14;
const TIME_DIGITS = 14;
const PAGE = 1_000;

/**
 * Logs in a store, each of some records: a log can't lose its beginning, so what is too old or too much goes a log at a time.
 * Several processes add to the newest.
 */
export class RunSegments {
  readonly #store: Store;
  readonly #bounds: RunRecordBounds;
  #current: string | undefined;

  constructor(store: Store, bounds: RunRecordBounds) {
    this.#store = store;
    this.#bounds = bounds;
  }

  /** The names of all segments, the newest first. */
  async names(): Promise<string[]> {
    const names: string[] = [];
    let after: StoreKey | undefined;
    for (;;) {
      const page = await this.#store.list(["segments"], { after, limit: PAGE });
      names.push(...page.map(([, name = ""]) => name));
      after = page.at(-1);
      if (page.length < PAGE) return names;
    }
  }

  async append(records: readonly Uint8Array[]): Promise<void> {
    if (this.#current === undefined || beganAt(this.#current) < Date.now() - SEGMENT_AGE_MS)
      this.#current = (await this.#newest()) ?? (await this.#begin());
    const name = this.#current;
    const length = await this.#store.append(logOf(name), records);
    const added = records.reduce((sum, { byteLength }) => sum + byteLength, 0);
    const bytes = await this.#store.add(sizeOf(name), added);
    if (length >= SEGMENT_RECORDS || bytes >= SEGMENT_BYTES) this.#current = await this.#begin();
  }

  async read(name: string, from: number, limit = PAGE): Promise<Uint8Array[]> {
    return this.#store.entries(logOf(name), { from, limit });
  }

  /** The newest segment, where there is room in it. */
  async #newest(): Promise<string | undefined> {
    const [found] = await this.#store.list(["segments"], { limit: 1 });
    const name = found?.[1];
    if (name === undefined || beganAt(name) < Date.now() - SEGMENT_AGE_MS) return undefined;
    const bytes = await this.#store.add(sizeOf(name), 0);
    const last = await this.#store.entries(logOf(name), { from: SEGMENT_RECORDS - 1, limit: 1 });
    return bytes < SEGMENT_BYTES && last.length === 0 ? name : undefined;
  }

  async #begin(): Promise<string> {
    await this.#prune();
    const time = String(END_OF_TIME - Date.now()).padStart(TIME_DIGITS, "0");
    const name = `${time}-${randomBytes(3).toString("hex")}`;
    await this.#store.write(["segments", name], new Uint8Array());
    return name;
  }

  /** Removes what is beyond the bounds, the oldest first. */
  async #prune(): Promise<void> {
    const kept = { count: 0, bytes: 0 };
    const oldest = Date.now() - this.#bounds.ageMs;
    let newer = Date.now();
    for (const name of await this.names()) {
      // All of a segment is older than what began after it.
      const isOver = kept.count >= this.#bounds.count || kept.bytes >= this.#bounds.bytes || newer < oldest;
      newer = beganAt(name);
      if (isOver) {
        await this.#store.remove(["segments", name]);
        await this.#store.removeAll(logOf(name));
        await this.#store.removeAll(sizeOf(name));
        continue;
      }
      kept.count += (await this.#store.entries(logOf(name))).length;
      kept.bytes += await this.#store.add(sizeOf(name), 0);
    }
  }
}

function logOf(name: string): StoreKey {
  return ["records", name];
}

function sizeOf(name: string): StoreKey {
  return ["sizes", name];
}

function beganAt(name: string): number {
  return END_OF_TIME - Number(name.slice(0, TIME_DIGITS));
}
