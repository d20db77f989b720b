import { roughSize } from "@cem/core";
import {
  MAX_KEPT_CHARACTERS,
  MAX_KEPT_CHARACTERS_PER_CLIENT,
  MAX_KEPT_RUNS,
  MAX_KEPT_RUNS_PER_CLIENT,
} from "../limits.ts";
import type { Run } from "./run.ts";

interface Kept {
  run: Run;
  /** The size of its result, in characters. 0 until it has finished. */
  size: number;
}

/**
 * Keeps runs that outlasted their call, by owner. When an owner's quota is used up, its oldest finished run is forgotten.
 * When the total limit is reached, the owner with the most makes room.
 *
 * @param onForgotten - Called with each finished run that is forgotten to make room.
 */
export function createKeptRuns(onForgotten: (run: Run) => void) {
  /** By id, the oldest first. */
  const kept = new Map<string, Kept>();
  const all = (): Run[] => [...kept.values()].map(({ run }) => run);

  /** Over stdio there is one client, without a name. */
  const of = (quotaOwner: string | undefined): Kept[] =>
    [...kept.values()].filter(({ run }) => run.quotaOwner === quotaOwner);

  /** The runs of the owner with the most, by a measure. */
  function most(measure: (kept: readonly Kept[]) => number): Kept[] {
    const owners = Map.groupBy(kept.values(), ({ run }) => run.quotaOwner);
    return [...owners.values()].toSorted((one, other) => measure(other) - measure(one))[0] ?? [];
  }

  /** Forgets the oldest finished run. Returns `false` if there is none. */
  function forgetOldest(among: readonly Kept[]): boolean {
    const oldest = among.find(({ run }) => run.finished)?.run;
    if (oldest === undefined) return false;
    kept.delete(oldest.id);
    onForgotten(oldest);
    return true;
  }

  /** Notes the size of a result, and forgets others if the total is too large. */
  function weigh(one: Kept, size: number): void {
    if (kept.get(one.run.id) !== one) return;
    one.size = size;
    const { quotaOwner } = one.run;
    while (sizeOf(of(quotaOwner)) > MAX_KEPT_CHARACTERS_PER_CLIENT)
      if (!forgetOldest(of(quotaOwner).filter((other) => other !== one))) break;
    while (sizeOf([...kept.values()]) > MAX_KEPT_CHARACTERS) if (!forgetOldest(most(sizeOf))) return;
  }

  return {
    all,
    get size(): number {
      return kept.size;
    },
    get: (id: string): Run | undefined => kept.get(id)?.run,
    hasRoomFor(quotaOwner: string | undefined): boolean {
      const own = of(quotaOwner);
      const isEnough = own.length < MAX_KEPT_RUNS_PER_CLIENT || own.some(({ run }) => run.finished);
      return isEnough && (kept.size < MAX_KEPT_RUNS || all().some(({ finished }) => finished));
    },
    /** Keeps a run. Returns `false` if there is no room. */
    add(run: Run): boolean {
      if (kept.has(run.id)) return true;
      const own = of(run.quotaOwner);
      if (own.length >= MAX_KEPT_RUNS_PER_CLIENT && !forgetOldest(own)) return false;
      if (kept.size >= MAX_KEPT_RUNS && !forgetOldest(most(({ length }) => length))) return false;
      const one: Kept = { run, size: 0 };
      kept.set(run.id, one);
      run.result.then(
        (result) => weigh(one, roughSize(result, MAX_KEPT_CHARACTERS_PER_CLIENT)),
        () => {},
      );
      return true;
    },
    delete: ({ id }: Run): boolean => kept.delete(id),
  };
}

function sizeOf(kept: readonly Kept[]): number {
  return kept.reduce((sum, { size }) => sum + size, 0);
}
