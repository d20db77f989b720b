import { getHeapStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The memory limit of a run includes what earlier runs left, so that must stay small. */
const MAX_KEPT_BYTES = 24 * 1024 * 1024;

// Exposed only to capture the function: realms created later don't have it.
setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;
setFlagsFromString("--no-expose-gc");

/** Collects the garbage of ended runs; right after a run only if there is much of it. */
export function collectGarbage(isResting = false): void {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics();
  if (isResting || heap + buffers > MAX_KEPT_BYTES) collect();
}
