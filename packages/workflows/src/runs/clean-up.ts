import type { RunFolders } from "./run-folder.ts";
import { readRun } from "./run-summary.ts";

/** Bounds of the runs that are kept once they have ended. */
export interface KeptRuns {
  /** Of the runs that were at work last, so many are kept, with all that did not succeed. */
  count: number;
  /** After so long without work an ended run is removed, unless somebody has to say first whether a step was executed. */
  ageMs: number;
}

/** A look is due after so many uses, or so long. */
const USES_PER_LOOK = 100;
const LOOK_PERIOD_MS = 600_000;

/** Removes ended runs beyond the bounds, now and then: the result is called with each use, and does its work beside it. */
export function createCleanUp(folders: RunFolders, keep: KeptRuns): () => void {
  const stay = new Set<string>();
  let uses = 0;
  let nextMs = -Infinity;
  let isUnderWay = false;
  return () => {
    uses += 1;
    if (isUnderWay || (uses < USES_PER_LOOK && performance.now() < nextMs)) return;
    uses = 0;
    nextMs = performance.now() + LOOK_PERIOD_MS;
    isUnderWay = true;
    void removeEnded(folders, keep, stay)
      .catch(() => {})
      .finally(() => {
        isUnderWay = false;
      });
  };
}

/**
 * Removes ended runs beyond the bounds. A run that is under way, was interrupted or waits for a decision stays.
 *
 * @param stay - Remembers runs that stay, which are not read again before something changes.
 */
export async function removeEnded(folders: RunFolders, { count, ageMs }: KeptRuns, stay = new Set<string>()) {
  await folders.removeRest();
  const since = Date.now() - ageMs;
  for (const [at, place] of (await folders.latest()).entries()) {
    const isOld = place.usedMs < since;
    const state = `${place.id} ${place.usedMs} ${isOld}`;
    if ((at < count && !isOld) || stay.has(state)) continue;
    const isDue = async (): Promise<boolean> => {
      const { outcomes } = await readRun(folders, place);
      if (outcomes.end === undefined) return false;
      if (outcomes.end.status === "success") return true;
      const isUncertain = [...outcomes.steps.values()].some((step) => step.isUncertain);
      return !isUncertain && Date.parse(outcomes.updatedAt ?? "") < since;
    };
    // A run that can't be read stays as it is, and one that another process has taken is looked at again.
    if (await isDue().catch(() => false)) await folders.remove(place, isDue).catch(() => {});
    else stay.add(state);
  }
}
