import type { RunFolders } from "./run-folder.ts";
import { readRun } from "./run-summary.ts";

/** Limits of the ended runs that are kept. */
export interface KeptRuns {
  /** Number of most recently active runs to keep, besides all that did not succeed. */
  count: number;
  /**
   * Age, since its last activity, at which an ended run is removed, unless somebody still has to decide whether a step
   * was executed.
   */
  ageMs: number;
}

/** A check is due after this many uses or this time. */
const USES_PER_LOOK = 100;
const LOOK_PERIOD_MS = 600_000;

/** Creates a function to call on each use. From time to time, it removes ended runs beyond the limits, in the background. */
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
      .finally(() => (isUnderWay = false));
  };
}

/**
 * Removes ended runs beyond the limits. Keeps runs that are under way, were interrupted or wait for a decision.
 *
 * @param stay - Caches runs that stay: they are not read again before something changes.
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
    // A run that can't be read stays as it is; one that another process has taken is checked again later.
    if (await isDue().catch(() => false)) await folders.remove(place, isDue).catch(() => {});
    else stay.add(state);
  }
}
