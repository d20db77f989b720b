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

/** The time after which a check is due. */
const LOOK_PERIOD_MS = 600_000;

/** Creates a function to call on each use, which removes ended runs beyond the limits from time to time, in the background. */
export function createCleanUp(folders: RunFolders, keep: KeptRuns): () => void {
  let nextMs = -Infinity;
  let isUnderWay = false;
  return () => {
    if (isUnderWay || performance.now() < nextMs) return;
    nextMs = performance.now() + LOOK_PERIOD_MS;
    isUnderWay = true;
    void removeEnded(folders, keep)
      .catch(() => {})
      .finally(() => (isUnderWay = false));
  };
}

/** Removes ended runs beyond the limits. Keeps runs that are under way, were interrupted or wait for a decision. */
export async function removeEnded(folders: RunFolders, { count, ageMs }: KeptRuns) {
  await folders.removeRest();
  const since = Date.now() - ageMs;
  for (const [at, place] of (await folders.latest()).entries()) {
    const isOld = place.usedMs < since;
    if (at < count && !isOld) continue;
    const isDue = async (): Promise<boolean> => {
      const { outcomes } = await readRun(folders, place);
      if (outcomes.end === undefined) return false;
      if (outcomes.end.status === "success") return true;
      const isUncertain = [...outcomes.steps.values()].some((step) => step.isUncertain);
      return !isUncertain && Date.parse(outcomes.updatedAt ?? "") < since;
    };
    // A run that can't be read stays as it is.
    if (await isDue().catch(() => false)) await folders.remove(place, isDue).catch(() => {});
  }
}
