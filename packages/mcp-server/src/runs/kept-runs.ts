import {
  MAX_KEPT_CHARACTERS,
  MAX_KEPT_CHARACTERS_PER_CLIENT,
  MAX_KEPT_RUNS,
  MAX_KEPT_RUNS_PER_CLIENT,
} from "../limits.ts";
import type { Run } from "./run.ts";

interface Holder {
  runs: Set<Run>;
  /** The size of the results of those that have finished. */
  characters: number;
}

/**
 * Runs that outlasted their call, by the owner that they are for. Each has a share: where it is used up,
 * the oldest of its own finished runs is forgotten. Where there is no room for anybody, whoever holds most makes room.
 */
export class KeptRuns {
  readonly #runs = new Map<string, Run>();
  readonly #holders = new Map<string, Holder>();
  readonly #sizes = new Map<Run, number>();
  readonly #onForgotten: (run: Run) => void;
  #characters = 0;

  /** @param onForgotten - Called with each finished run that makes room for another. */
  constructor(onForgotten: (run: Run) => void) {
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#runs.size;
  }

  get(id: string): Run | undefined {
    return this.#runs.get(id);
  }

  all(): Run[] {
    return [...this.#runs.values()];
  }

  /** Keeps a run. False where there is no room for it. */
  add(run: Run): boolean {
    if (this.#runs.has(run.id)) return true;
    const own = this.#holders.get(keyOf(run));
    if (own !== undefined && own.runs.size >= MAX_KEPT_RUNS_PER_CLIENT && !this.#forgetOldest(own))
      return false;
    if (this.size >= MAX_KEPT_RUNS && !this.#forgetOldest(this.#largest(({ runs }) => runs.size)))
      return false;
    const holder = this.#holders.get(keyOf(run)) ?? { runs: new Set(), characters: 0 };
    this.#holders.set(keyOf(run), holder);
    holder.runs.add(run);
    this.#runs.set(run.id, run);
    run.result.then(
      (result) => this.#weigh(run, roughSize(result, MAX_KEPT_CHARACTERS_PER_CLIENT)),
      () => {},
    );
    return true;
  }

  delete(run: Run): void {
    const holder = this.#holders.get(keyOf(run));
    if (holder === undefined || !this.#runs.delete(run.id)) return;
    const size = this.#sizes.get(run) ?? 0;
    this.#sizes.delete(run);
    this.#characters -= size;
    holder.characters -= size;
    holder.runs.delete(run);
    if (holder.runs.size === 0) this.#holders.delete(keyOf(run));
  }

  /** Counts a result that is kept now, and makes room for it. */
  #weigh(run: Run, size: number): void {
    const holder = this.#holders.get(keyOf(run));
    if (holder?.runs.has(run) !== true) return;
    this.#sizes.set(run, size);
    this.#characters += size;
    holder.characters += size;
    while (holder.characters > MAX_KEPT_CHARACTERS_PER_CLIENT && this.#forgetOldest(holder, run));
    while (this.#characters > MAX_KEPT_CHARACTERS) {
      if (!this.#forgetOldest(this.#largest(({ characters }) => characters))) return;
    }
  }

  #largest(sizeOf: (holder: Holder) => number): Holder | undefined {
    return [...this.#holders.values()].reduce<Holder | undefined>(
      (largest, one) => (largest === undefined || sizeOf(one) > sizeOf(largest) ? one : largest),
      undefined,
    );
  }

  /** Forgets the oldest finished run of one holder. False where it has none. */
  #forgetOldest(holder: Holder | undefined, except?: Run): boolean {
    const oldest = [...(holder?.runs ?? [])].find((run) => run.finished && run !== except);
    if (oldest === undefined) return false;
    this.delete(oldest);
    this.#onForgotten(oldest);
    return true;
  }
}

/** Over stdio there is one client, which is not named. */
function keyOf({ quotaOwner = "" }: Run): string {
  return quotaOwner;
}

/** The part of the size that a number, a property or an object adds, in characters. */
const NODE_CHARACTERS = 8;

/** Estimates the size of data in memory, in characters. It does not look further once it is above the limit. */
function roughSize(data: unknown, limit: number): number {
  const pending: unknown[] = [data];
  let size = 0;
  while (pending.length > 0 && size <= limit) {
    const one = pending.pop();
    size += NODE_CHARACTERS;
    if (typeof one === "string") size += one.length;
    else if (one instanceof Uint8Array) size += one.byteLength;
    else if (typeof one === "object" && one !== null) {
      for (const value of Object.values(one)) pending.push(value);
    }
  }
  return size;
}
