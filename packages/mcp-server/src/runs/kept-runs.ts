import {
  MAX_KEPT_CHARACTERS,
  MAX_KEPT_CHARACTERS_PER_CLIENT,
  MAX_KEPT_RUNS,
  MAX_KEPT_RUNS_PER_CLIENT,
} from "../limits.ts";
import { roughSize } from "./rough-size.ts";
import type { Run } from "./run.ts";

interface Kept {
  run: Run;
  /** The size of its result, in characters. 0 until it has finished. */
  size: number;
}

/**
 * Runs that outlasted their call, by the owner that they are for. Each has a share: where it is used up,
 * the oldest of its own finished runs is forgotten. Where there is no room for anybody, whoever holds most makes room.
 */
export class KeptRuns {
  /** By id, the oldest first. */
  readonly #kept = new Map<string, Kept>();
  readonly #onForgotten: (run: Run) => void;

  /** @param onForgotten - Called with each finished run that makes room for another. */
  constructor(onForgotten: (run: Run) => void) {
    this.#onForgotten = onForgotten;
  }

  get size(): number {
    return this.#kept.size;
  }

  get(id: string): Run | undefined {
    return this.#kept.get(id)?.run;
  }

  all(): Run[] {
    return [...this.#kept.values()].map(({ run }) => run);
  }

  /** Whether a run of a client would be kept. */
  hasRoomFor(client: Pick<Run, "quotaOwner">): boolean {
    const own = this.#of(client);
    const isEnough = own.length < MAX_KEPT_RUNS_PER_CLIENT || own.some(({ run }) => run.finished);
    return isEnough && (this.size < MAX_KEPT_RUNS || this.all().some(({ finished }) => finished));
  }

  /** Keeps a run. False where there is no room for it. */
  add(run: Run): boolean {
    if (this.#kept.has(run.id)) return true;
    const own = this.#of(run);
    if (own.length >= MAX_KEPT_RUNS_PER_CLIENT && !this.#forgetOldest(own)) return false;
    if (this.size >= MAX_KEPT_RUNS && !this.#forgetOldest(this.#most(({ length }) => length))) return false;
    const kept: Kept = { run, size: 0 };
    this.#kept.set(run.id, kept);
    run.result.then(
      (result) => this.#weigh(kept, roughSize(result, MAX_KEPT_CHARACTERS_PER_CLIENT)),
      () => {},
    );
    return true;
  }

  delete({ id }: Run): void {
    this.#kept.delete(id);
  }

  /** Notes the size of a result, and forgets others where it is too much with them. */
  #weigh(kept: Kept, size: number): void {
    if (this.#kept.get(kept.run.id) !== kept) return;
    kept.size = size;
    for (let own = this.#of(kept.run); sizeOf(own) > MAX_KEPT_CHARACTERS_PER_CLIENT; own = this.#of(kept.run))
      if (!this.#forgetOldest(own.filter((other) => other !== kept))) break;
    while (sizeOf([...this.#kept.values()]) > MAX_KEPT_CHARACTERS)
      if (!this.#forgetOldest(this.#most(sizeOf))) return;
  }

  #of(run: Pick<Run, "quotaOwner">): Kept[] {
    return [...this.#kept.values()].filter((kept) => keyOf(kept.run) === keyOf(run));
  }

  /** The runs of the owner that has most, by a measure. */
  #most(measure: (kept: readonly Kept[]) => number): Kept[] {
    const owners = Map.groupBy(this.#kept.values(), ({ run }) => keyOf(run));
    return [...owners.values()].toSorted((one, other) => measure(other) - measure(one))[0] ?? [];
  }

  /** Forgets the oldest finished run. False where there is none. */
  #forgetOldest(among: readonly Kept[]): boolean {
    const oldest = among.find(({ run }) => run.finished)?.run;
    if (oldest === undefined) return false;
    this.delete(oldest);
    this.#onForgotten(oldest);
    return true;
  }
}

function sizeOf(kept: readonly Kept[]): number {
  return kept.reduce((sum, { size }) => sum + size, 0);
}

/** Over stdio there is one client, which is not named. */
function keyOf({ quotaOwner = "" }: Pick<Run, "quotaOwner">): string {
  return quotaOwner;
}
